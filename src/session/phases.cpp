// SPDX-License-Identifier: BSD-3-Clause
// Phase marks, and what hangs on them: planning at the leader, samples of the timeline.
#include <algorithm>

#include "base/clock.h"
#include "session/session.h"
#include "session/state.h"

namespace steelyard::session {
namespace {

constexpr std::int64_t kConsiderEvery = 1'000'000;
constexpr std::int64_t kSampleEvery = 2'000'000;
// Collectives mark phases unless they are so rare that a changed load would go unseen for long.
constexpr std::int64_t kFewestTicks = 3;
constexpr std::int64_t kPatience = 200'000'000;
constexpr std::int64_t kShowDecisionsEvery = 200'000'000;

// The surest source that all processes feed. Regions come last: they mean the same moment everywhere only in programs
// that run the same regions on every rank.
bool choose_source(const Session& state, std::int64_t now, observe::TickSource& chosen) {
  using observe::TickSource;
  for (const TickSource source : {TickSource::step, TickSource::collective, TickSource::region}) {
    if (source == TickSource::region && now - state.start < kPatience) break;
    std::int64_t fewest = INT64_MAX;
    for (int p = 0; p < state.count; ++p) {
      const std::int64_t count = state.ticks->count(p, source);
      if (source != TickSource::region || count > 0) fewest = std::min(fewest, count);
    }
    if (fewest >= kFewestTicks && fewest != INT64_MAX) {
      chosen = source;
      return true;
    }
  }
  return false;
}

// For `steelyard top`.
void show(Session& state, const observe::Totals& totals, std::int64_t now) {
  if (state.live == nullptr) return;
  observe::LiveProcess& self = state.live->mine();
  self.cores.store(state.cores != nullptr ? state.cores->owned() : limits().program, std::memory_order_relaxed);
  self.borrowed.store(state.cores != nullptr ? state.cores->borrowed() : 0, std::memory_order_relaxed);
  state.live->publish(totals, now);
  if (!state.leader || state.cores == nullptr || now - state.last_decisions_shown < kShowDecisionsEvery) return;
  state.last_decisions_shown = now;
  state.live->publish(state.cores->decisions());
}

}  // namespace

void publish_tick(Session& state, observe::TickSource source, std::int64_t now) {
  if (state.ticks == nullptr) return;
  observe::Tick tick = state.activity.tick_at(now);
  tick.threads = state.cores != nullptr ? state.cores->owned() : limits().program;
  state.ticks->publish(source, tick);
  if (source == observe::TickSource::region) {
    sample(state, now);
    consider_plans(state, now);
  }
}

void consider_plans(Session& state, std::int64_t now) {
  if (!state.leader || state.cores == nullptr || now - state.last_consideration < kConsiderEvery) return;
  state.last_consideration = now;
  observe::TickSource source;
  if (!choose_source(state, now, source)) return;
  const int period = source == observe::TickSource::step         ? 1
                     : source == observe::TickSource::collective ? state.collective_period.period()
                                                                 : state.region_period.period();
  state.cores->consider(*state.ticks, source, period, state.start);
}

void sample(Session& state, std::int64_t now) {
  const std::int64_t since = state.sampled.wall;
  if (now - state.start - since < kSampleEvery) return;
  const observe::Totals totals = state.activity.totals_at(now);
  const observe::Totals part = totals - state.sampled;
  state.timeline->add({base::seconds(since), base::seconds(totals.wall), base::seconds(part.useful()),
                       base::seconds(part.omp_imbalance + part.omp_scheduling + part.omp_serialisation),
                       base::seconds(part.mpi), state.team, base::seconds(part.lent), base::seconds(part.quiesced)});
  state.sampled = totals;
  show(state, totals, now);
}

void wait_begins(bool quiesced) {
  if (g_session == nullptr) return;
  if (in_region()) return barrier_begin();  // of the team; it is a thread that waits, not the process
  if (t_primary) g_session->activity.begin_wait(base::now_ns(), quiesced);
}

void wait_ends() {
  if (g_session == nullptr) return;
  if (in_region()) return barrier_end();
  if (!t_primary) return;
  const std::int64_t now = base::now_ns();
  g_session->activity.end_wait(now);
  sample(*g_session, now);
}

void step() {
  Session* state = g_session;
  if (state == nullptr || !t_primary || in_region()) return;
  const std::int64_t now = base::now_ns();
  publish_tick(*state, observe::TickSource::step, now);
  consider_plans(*state, now);
}

}  // namespace steelyard::session
