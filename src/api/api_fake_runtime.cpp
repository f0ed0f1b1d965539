// SPDX-License-Identifier: BSD-3-Clause
#include "api/api_fake_runtime.h"

#include <string>
#include <utility>

#include "session/named_regions.h"
#include "session/openmp.h"
#include "session/pause.h"
#include "session/phases.h"
#include "session/program_cores.h"
#include "session/session.h"
#include "session/steps.h"
#include "session/tasks.h"
#include "session/waits.h"

namespace steelyard::session {

base::Status region_begins(std::string_view name) {
  api::fake::regions += "+" + std::string(name);
  return {};
}
base::Status region_ends(std::string_view name) {
  api::fake::regions += "-" + std::string(name);
  return name == "other" ? base::Status::failure(base::Code::invalid_state, "'inner' is open") : base::Status();
}
observe::RunningMetrics running_metrics() { return {2.5, 3, {.parallel = 0.5, .gpu = 0.75}}; }
base::Status pause() {
  api::fake::regions += "(";
  return {};
}
base::Status resume() {
  api::fake::regions += ")";
  return {};
}
void step() {
  ++api::fake::steps;
  if (api::fake::fails != nullptr) api::fake::fails();
}
void pool_runs(int threads) { api::fake::pool_threads = threads; }
void work_shared() { ++api::fake::shared; }
bool team_is_larger() { return api::fake::pool_threads > 1; }
void tasks_ended(const observe::TasksRecord& pool) {
  api::fake::tasks += static_cast<int>(pool.executed);
  api::fake::transport = pool.transport;
}
void wait_begins(bool quiesced) { (quiesced ? api::fake::quiesced : api::fake::idle) += 1; }
void wait_ends() {
  ++api::fake::waits_ended;
  if (api::fake::fails != nullptr) api::fake::fails();
}
void phases_begin(int processes) { api::fake::phases += processes; }
void hold_begins() { ++api::fake::holds; }
void hold_ends(std::int64_t phases) { api::fake::held += phases; }
void phase_left(observe::PhaseRecord phase) { api::fake::phase = std::move(phase); }
std::string inactive_reason() { return api::fake::reason; }
base::Status declare_cores(int) { return {}; }
std::string immovable_reason() { return api::fake::reason; }
std::vector<int> cpus_in_use() { return api::fake::cpus; }
std::vector<int> poll_cores() { return api::fake::cpus; }
void return_wanted_cores(const std::vector<int>& kept) { api::fake::kept = kept; }
int lend_cores(int most) { return most; }
int reclaim_cores() { return 0; }
int acquire_cores(int most) { return most; }
void release_cores() {}
bool measures_this_call() { return api::fake::in_primary; }

}  // namespace steelyard::session
