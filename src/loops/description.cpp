// SPDX-License-Identifier: BSD-3-Clause
#include "loops/description.h"

#include <algorithm>

namespace steelyard::loops {
namespace {

/// False where all iterations are in one pool: none moves from one thread to another.
bool has_owners(Strategy strategy) { return strategy != Strategy::guided && strategy != Strategy::factoring; }

void say_how(const Loop& loop, const Loop::Regime& regime, Description& said) {
  const Strategy asked = loop.settings().strategy;
  const bool automatic = asked == Strategy::automatic;
  said.threads = regime.threads;
  said.strategy = name_of(automatic ? regime.policy.next() : asked);
  said.reason = !automatic                ? "asked for"
                : regime.policy.settled() ? std::string(regime.policy.reason())
                                          : "still being learnt";
  if (const auto gain = regime.policy.gain(); automatic && gain) {
    said.against = name_of(gain->against);
    said.gain = gain->value;
    said.gain_interval = gain->interval;
  }
}

}  // namespace

Description describe(const Loop& loop) {
  Description said;
  const std::vector<Loop::Regime> regimes = loop.regimes();
  const Loop::Regime* longest = nullptr;
  double measured = 0, ns = 0, elapsed = 0, most = 0;
  for (const Loop::Regime& regime : regimes) {
    // Others are known from an earlier run (--loops-learn), and were not met in this one.
    if (regime.history.kept() == 0) continue;
    const auto runs = static_cast<double>(regime.history.executions_here());
    const double its = runs * regime.history.mean_ns_here();
    measured += runs;
    ns += its;
    for (int i = 0; i < regime.history.kept(); ++i) {
      const Execution& execution = regime.history.last(i);
      const auto weight = static_cast<double>(execution.elapsed_ns);
      elapsed += weight;
      said.idle += weight * execution.idle_share();
      if (has_owners(execution.strategy)) said.stolen += weight * execution.stolen_share();
    }
    if (longest != nullptr && its <= most) continue;
    most = its;
    longest = &regime;
  }
  if (elapsed > 0) {
    said.idle = std::clamp(said.idle / elapsed, 0.0, 1.0);
    said.stolen = std::clamp(said.stolen / elapsed, 0.0, 1.0);
  }
  if (measured > 0) said.mean_ns = ns / measured;
  if (longest != nullptr) {
    say_how(loop, *longest, said);
  } else if (Loop::Regime latest; loop.latest(latest)) {
    say_how(loop, latest, said);  // executed, and never measured: a replay, or cancelled each time
  }
  if (const Loop::Repeats repeats = loop.repeats(); repeats.repeated > 0) {
    said.reason = repeats.repeated == repeats.executions ? "repeats what was recorded (--loops-replay)"
                                                         : "repeats what was recorded (--loops-replay) where that fits";
  }
  return said;
}

}  // namespace steelyard::loops
