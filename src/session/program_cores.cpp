// SPDX-License-Identifier: BSD-3-Clause
#include "session/program_cores.h"

#include "base/clock.h"
#include "base/log.h"
#include "node/binding.h"
#include "session/session.h"
#include "session/state.h"

namespace steelyard::session {

namespace {

/// No plan changes this process's cores from now on.
void moved_by_program() {
  if (limits().reasons[ThreadLimits::moved_by_program].empty())
    fix_thread_count(ThreadLimits::moved_by_program, "the program says itself which cores it uses (steelyard/cores.h)");
}

/// Null if no core can move. The first call marks this process as moved by the program.
cores::Cores* moved_cores() {
  if (g_session == nullptr || g_session->held || g_session->cores == nullptr ||
      !g_session->cores->immovable_reason().empty())
    return nullptr;
  moved_by_program();
  return g_session->cores;
}

}  // namespace

base::Status declare_cores(int cores) {
  if (inactive_reason().empty()) {
    const base::Status late = base::Status::failure(
        base::Code::invalid_state,
        "steelyard_cores_init() was called after MPI_Init, and has no effect: call it before, otherwise a rank without "
        "OpenMP has one core");
    base::warn_once(late.sentence());
    return late;
  }
  limits().declared = cores;
  moved_by_program();
  return {};
}

std::string immovable_reason() {
  if (g_session == nullptr) return inactive_reason();
  if (g_session->held) return "the program is in a phase, or has pushed a binding (steelyard/phases.h)";
  return immovable_reason(*g_session);
}

std::vector<int> cpus_in_use() {
  const cores::Cores* cores = moved_cores();
  return cores != nullptr ? cores->cpus() : node::affinity_mask().cpus();
}

std::vector<int> poll_cores() {
  cores::Cores* cores = moved_cores();
  return cores != nullptr ? cores->poll() : node::affinity_mask().cpus();
}

void return_wanted_cores(const std::vector<int>& kept) {
  if (cores::Cores* cores = moved_cores()) cores->keep_only(kept, base::now_ns());
}

int lend_cores(int most) {
  cores::Cores* cores = moved_cores();
  return cores != nullptr ? cores->offer(most, base::now_ns()) : 0;
}

int reclaim_cores() {
  cores::Cores* cores = moved_cores();
  return cores != nullptr ? cores->reclaim(base::now_ns()) : 0;
}

int acquire_cores(int most) {
  cores::Cores* cores = moved_cores();
  if (cores == nullptr) return 0;
  // Nothing tells how long the program will use them: only from owners that have offered them or wait for this process.
  const std::int64_t now = base::now_ns();
  return cores->acquire(most, {.lent_after = lent_before_call(*g_session, now), .until = INT64_MAX});
}

void release_cores() {
  if (cores::Cores* cores = moved_cores()) cores->release(base::now_ns());
}

}  // namespace steelyard::session
