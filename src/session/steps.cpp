// SPDX-License-Identifier: BSD-3-Clause
// Marks of steps, and what follows from them: planning at the leader, samples of the timeline.
#include "session/steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/complaint.h"
#include "decide/estimate.h"
#include "session/state.h"

namespace steelyard::session {
namespace {

// ns: bounds what samples cost, what others see, and what it costs the leader to read the ticks of all processes. A
// full timeline merges neighbours.
constexpr std::int64_t kSampleEvery = 2'000'000;
// The fewest intervals between ticks that can be compared.
constexpr std::int64_t kFewestTicks = decide::kFewest + 1;
// ns: regions mark the steps of a program that has not called kFewestTicks collectives by then.
constexpr std::int64_t kPatience = 200'000'000;
// Ticks. If no step is known for as long, each tick counts as one.
constexpr std::int64_t kTicksOfUnknownStep = 64;

// The surest source that all processes feed. Regions come last: they mean the same moment everywhere only in programs
// that run the same regions on every rank.
bool choose_source(const Session& session, std::int64_t now, observe::TickSource& chosen) {
  using observe::TickSource;
  for (const TickSource source : {TickSource::step, TickSource::collective, TickSource::region}) {
    if (source == TickSource::region && now - session.start.time < kPatience) break;
    std::int64_t fewest = INT64_MAX;
    for (int p = 0; p < session.count; ++p) {
      const std::int64_t count = session.steps.ticks->count(p, source);
      if (source != TickSource::region || count > 0) fewest = std::min(fewest, count);
    }
    if (fewest >= kFewestTicks && fewest != INT64_MAX) {
      chosen = source;
      return true;
    }
  }
  return false;
}

// Regions mark no step once all processes have marks of a surer source, or if no cores move.
bool regions_may_mark(const Session& session, std::int64_t now) {
  using observe::TickSource;
  if (session.steps.ticks == nullptr || session.cores == nullptr || !session.cores->immovable_reason().empty())
    return false;
  const auto own = [&](TickSource source) { return session.steps.ticks->count(session.me, source); };
  if (std::max(own(TickSource::step), own(TickSource::collective)) < kFewestTicks) return true;
  TickSource source;
  return !choose_source(session, now, source) || source == TickSource::region;
}

// Closes a sample of the timeline.
void add_sample(Session& session, const observe::Totals& totals, std::int64_t now) {
  session.steps.regions_mark = session.steps.regions_mark && regions_may_mark(session, now);
  const std::int64_t since = session.progress.sampled.wall;
  const observe::Totals part = totals - session.progress.sampled;
  session.progress.timeline->add({base::seconds(since), base::seconds(totals.wall), base::seconds(part.useful()),
                                  base::seconds(part.omp_imbalance + part.omp_scheduling + part.omp_serialisation),
                                  base::seconds(part.mpi), session.regions.team, base::seconds(part.lent),
                                  base::seconds(part.quiesced), base::seconds(part.gpu)});
  session.progress.sampled = totals;
}

// For `steelyard top`.
void show(Session& session, const observe::Totals& totals, std::int64_t now) {
  if (session.progress.live == nullptr) return;
  observe::LiveProcess& self = session.progress.live->mine();
  self.owned.store(owned_cores(session), std::memory_order_relaxed);
  self.borrowed.store(session.cores != nullptr ? session.cores->borrowed() : 0, std::memory_order_relaxed);
  session.progress.live->publish(totals, now);
  if (!session.leader || session.cores == nullptr || now - session.progress.decisions_shown < base::kUnnoticed) return;
  session.progress.decisions_shown = now;
  session.progress.live->publish(session.cores->decisions());
  session.cores->show_owners(*session.progress.live);
}

// `steelyard cores`: at the leader.
void answer_request(Session& session, std::int64_t now) {
  if (!session.leader || session.progress.live == nullptr) return;
  observe::LiveBoard& live = *session.progress.live;
  observe::LiveRequest request;
  if (!live.asked(request)) return;
  const double time = base::seconds(now - session.start.time);
  const std::string refusal =
      session.cores != nullptr ? session.cores->resize(request.cpus, time, request.who) : immovable_reason(session);
  if (session.cores != nullptr) {
    session.cores->show_owners(live);
    live.publish(session.cores->decisions());
  }
  live.answer(request.number, refusal);
}

}  // namespace

void publish_tick(Session& session, observe::TickSource source, std::int64_t now) {
  if (session.steps.ticks == nullptr || session.cores == nullptr) return;
  observe::Tick tick = session.activity.tick_at(now);
  tick.threads = owned_cores(session);
  session.steps.ticks->publish(source, tick);
}

void region_ended(Session& session, std::uint64_t site, std::int64_t now) {
  if (session.steps.regions_mark) {
    if (session.leader) session.steps.region_period.tick(site);
    publish_tick(session, observe::TickSource::region, now);
  }
  sample(session, now);
  consider_plans(session, now);
}

void consider_plans(Session& session, std::int64_t now) {
  if (!session.leader || session.cores == nullptr || now - session.steps.last_consideration < kSampleEvery) return;
  session.steps.last_consideration = now;
  observe::TickSource source;
  if (!choose_source(session, now, source)) return;
  const int period = source == observe::TickSource::step         ? 1
                     : source == observe::TickSource::collective ? session.steps.collective_period.period()
                                                                 : session.steps.region_period.period();
  // Parts of a step are not alike: a plan for one of them makes the others longer.
  const std::int64_t ticks = session.steps.ticks->count(session.me, source);
  if (period > 0) session.steps.known_until = ticks;
  if (period == 0 && ticks < session.steps.known_until + kTicksOfUnknownStep) return;
  session.cores->consider(*session.steps.ticks, source, period, session.start.time);
}

void sample(Session& session, std::int64_t now) {
  if (now - session.progress.shown < kSampleEvery) return;
  session.progress.shown = now;
  const observe::Totals totals = totals_of(session, now);
  const std::int64_t since = session.progress.sampled.wall;
  if (session.pause.begin == 0 && now - session.start.time - since >= kSampleEvery) add_sample(session, totals, now);
  show(session, totals, now);
  answer_request(session, now);
}

observe::RunningMetrics running_metrics() {
  const Session& session = *g_session;
  const std::int64_t now = base::now_ns();
  const observe::Totals mine = totals_of(session, now);
  if (session.progress.live != nullptr) session.progress.live->publish(mine, now);
  std::vector<observe::RankLoad> ranks;
  for (int p = 0; p < session.count; ++p) {
    const bool own = p == session.me || session.progress.live == nullptr;
    ranks.push_back({0, session.processes[p].threads_at_start, own ? mine : session.progress.live->totals(p)});
  }
  return observe::running_metrics_of(std::move(ranks));
}

void step() {
  Session* session = g_session;
  if (session == nullptr || !t_primary || in_region()) return;
  const std::int64_t now = base::now_ns();
  publish_tick(*session, observe::TickSource::step, now);
  consider_plans(*session, now);
}

}  // namespace steelyard::session
