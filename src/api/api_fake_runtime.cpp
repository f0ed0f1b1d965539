// SPDX-License-Identifier: BSD-3-Clause
#include "api/api_fake_runtime.h"

#include "session/session.h"

namespace steelyard::session {

void step() { ++api::fake::steps; }
void pool_runs(int threads) { api::fake::pool_threads = threads; }
bool team_is_larger() { return api::fake::pool_threads > 1; }
void tasks_ended(const observe::TasksRecord& pool) {
  api::fake::tasks += static_cast<int>(pool.executed);
  api::fake::transport = pool.transport;
}
void wait_begins(bool quiesced) { (quiesced ? api::fake::quiesced : api::fake::idle) += 1; }
void wait_ends() { ++api::fake::waits_ended; }
void phases_begin(int processes) { api::fake::phases += processes; }
void hold_begins() { ++api::fake::holds; }
void hold_ends(std::int64_t phases) { api::fake::held += phases; }
std::string inactive_reason() { return api::fake::reason; }
bool measures_this_call() { return api::fake::in_primary; }

}  // namespace steelyard::session
