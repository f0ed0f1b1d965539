#include "loops/description.h"

#include <algorithm>

namespace steelyard::loops {

Description describe(const Loop& loop) {
  Description said;
  double measured = 0, ns = 0, elapsed = 0, most = 0;
  const Strategy asked = loop.settings().strategy;
  const bool automatic = asked == Strategy::automatic;
  for (const Loop::Regime& regime : loop.regimes()) {
    const auto runs = static_cast<double>(regime.history.executions());
    const double its = runs * regime.history.mean_ns();
    measured += runs;
    ns += its;
    for (int i = 0; i < regime.history.kept(); ++i) {
      const Execution& execution = regime.history.last(i);
      const auto weight = static_cast<double>(execution.elapsed_ns);
      elapsed += weight;
      said.idle += weight * execution.idle_share();
      said.stolen += weight * execution.stolen_share();
    }
    if (!said.strategy.empty() && its <= most) continue;
    most = its;
    said.threads = regime.threads;
    said.strategy = name_of(automatic ? regime.policy.next() : asked);
    said.why = !automatic                ? "asked for"
               : regime.policy.settled() ? std::string(regime.policy.reason())
                                         : "still being learnt";
    said.against.clear();
    if (const auto gain = regime.policy.gain(); automatic && gain) {
      said.against = name_of(gain->against);
      said.gain = gain->value;
      said.gain_noise = gain->noise;
    }
  }
  if (elapsed > 0) {
    said.idle = std::clamp(said.idle / elapsed, 0.0, 1.0);
    said.stolen = std::clamp(said.stolen / elapsed, 0.0, 1.0);
  }
  if (measured > 0) said.mean_ns = ns / measured;
  return said;
}

}  // namespace steelyard::loops
