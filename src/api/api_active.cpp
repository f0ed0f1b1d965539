// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <span>
#include <utility>

#include "api/hooks.h"
#include "api/measured.h"
#include "base/log.h"
#include "session/openmp.h"
#include "session/phases.h"
#include "session/session.h"
#include "session/steps.h"
#include "session/tasks.h"
#include "session/waits.h"
#include "steelyard/steelyard.h"

namespace {

std::atomic_flag g_event_lost;

/// No exception passes to libsteelyard, which has a C++ runtime of its own. The program goes on without the event; a
/// warning names the first event that is lost.
template <class Event>
void notice(const char* name, Event&& event) noexcept {
  const auto call = [&] {
    std::forward<Event>(event)();
    return STEELYARD_SUCCESS;
  };
  if (steelyard::api::guarded(name, false, "", call) == STEELYARD_SUCCESS) return;
  steelyard::base::warn_once(g_event_lost, {steelyard_message(), ". What it reports is missing in the run record"});
}

}  // namespace

// Linked into the preload library, where these win over libsteelyard's.
extern "C" {

steelyard_status_t steelyard_step(void) {
  return steelyard::api::measured(__func__, [] {
    steelyard::session::step();
    return STEELYARD_SUCCESS;
  });
}

void steelyard_internal_phases_begin(int processes) {
  notice(__func__, [&] {
    if (steelyard::session::inactive_reason().empty()) steelyard::session::phases_begin(processes);
  });
}
void steelyard_internal_hold_begins(void) {
  notice(__func__, [] { steelyard::session::hold_begins(); });
}
void steelyard_internal_hold_ends(int64_t phases) {
  notice(__func__, [&] { steelyard::session::hold_ends(phases); });
}
static void phase_left(const steelyard_internal_phase* p) {
  steelyard::observe::PhaseRecord phase;
  phase.processes = p->processes;
  phase.number = p->number;
  phase.created = p->created;
  phase.autotuned = p->autotuned != 0;
  phase.runs = p->runs;
  phase.seconds = p->seconds;
  phase.best = p->best;
  for (const auto& c : std::span(p->configurations, static_cast<std::size_t>(p->count))) {
    phase.configurations.push_back(
        {c.resource, c.max_per_resource, c.processes, c.threads, c.seconds, c.gain, c.gain_low, c.gain_high});
  }
  steelyard::session::phase_left(std::move(phase));
}
void steelyard_internal_phase_left(const steelyard_internal_phase* phase) {
  notice(__func__, [&] { phase_left(phase); });
}

void steelyard_internal_pool_runs(int threads) {
  notice(__func__, [&] { steelyard::session::pool_runs(threads); });
}
void steelyard_internal_work_shared(void) { steelyard::session::work_shared(); }
int steelyard_internal_team_is_larger(void) { return steelyard::session::team_is_larger() ? 1 : 0; }
void steelyard_internal_tasks_ended(const steelyard_task_pool_statistics_t* s, const char* transport) {
  const auto count = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  notice(__func__, [&] {
    steelyard::session::tasks_ended({0, count(s->runs), count(s->spawned), count(s->executed), count(s->stolen_local),
                                     count(s->stolen_remote), count(s->results_sent), count(s->hops),
                                     count(s->messages), s->connections, s->degree, s->busy_seconds,
                                     s->run_seconds * s->threads, transport});
  });
}

void steelyard_internal_wait_begins(int quiesced) {
  notice(__func__, [&] { steelyard::session::wait_begins(quiesced != 0); });
}
void steelyard_internal_wait_ends(void) {
  notice(__func__, [] { steelyard::session::wait_ends(); });
}

int steelyard_active(void) { return steelyard::api::without(__func__, steelyard::session::inactive_reason); }
}
