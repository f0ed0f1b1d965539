// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>

#include "observe/live.h"
#include "observe/metrics.h"
#include "observe/period_finder.h"
#include "observe/ticks.h"
#include "observe/timeline.h"
#include "observe/totals.h"

namespace steelyard::session {

struct Session;

/// steelyard_step(): the program says that a step has ended.
void step();
/// steelyard_get_efficiencies(), where measures_this_call(): of the ranks of this node, as last published.
observe::RunningMetrics running_metrics();

/// Steps of the program's main loop. The leader of a node plans from them.
struct Steps {
  std::unique_ptr<observe::TickBoard> ticks;  ///< null without a segment
  bool regions_mark = true;                   ///< the ends of regions may be the marks of steps
  // At the leader.
  observe::PeriodFinder collective_period;
  observe::PeriodFinder region_period;
  std::int64_t last_consideration = 0;  ///< ns
  std::int64_t known_until = 0;         ///< tick at which the length of a step was last known
};

/// The timeline of this process, and what `steelyard top` sees of it.
struct Progress {
  std::unique_ptr<observe::Timeline> timeline;
  observe::Totals sampled;                   ///< at the end of the last sample; not in a pause
  std::int64_t shown = 0;                    ///< when sample() last showed others how far this process is, ns
  std::unique_ptr<observe::LiveBoard> live;  ///< null without a segment
  std::int64_t decisions_shown = 0;          ///< when the leader last did, ns
};

/// Notes the mark of a step of this process. If cores are off, which is so in all processes or in none, nothing plans
/// from it.
void publish_tick(Session& session, observe::TickSource source, std::int64_t now);
/// At the leader, plans if there is enough to plan from.
void consider_plans(Session& session, std::int64_t now);
/// At the end of a region, which may mark a step: also samples and plans.
void region_ended(Session& session, std::uint64_t site, std::int64_t now);
/// Closes a sample of the timeline if the last is old enough, and shows others how far this process is.
void sample(Session& session, std::int64_t now);

}  // namespace steelyard::session
