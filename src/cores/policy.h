// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include "cores/rule.h"
#include "decide/settings.h"

// When to act. In the paper, the user chooses the step; here, it follows from measurements.
namespace steelyard::cores {

struct PolicyOptions {
  double least_gain = 0.02;   ///< fraction by which a forecast gain must exceed what could be noise
  double move_cost = 100e-6;  ///< s for each core that changes owner (rebinding, cold caches); refined by measurement
  double noise_factor = 2.5;  ///< a gain of up to so many standard deviations could be noise
  int every = 0;              ///< --balance-every: consider only each n-th step, whatever the noise; 0 = decide
  int at = 0;                 ///< --balance-at: consider once, at this step; 0 = decide
  bool sabo = false;          ///< by the rule of the SABO paper (sabo.h) instead; of the above, only every and at count
  decide::Settings decision = {};
};

/// Learns each process's load, noise and scaling from the windows, and decides. It compares the last move with
/// its forecast, reverts the move if it did not help, and then pauses, for longer each time.
///
/// How long a gain will last is unknown. The guess is: as long as the loads have been steady so far. Once they have
/// changed, the lengths of past steady stretches correct it. A change of loads is accepted if two windows agree on it.
/// If the loads change again before a move has paid, more windows have to agree, and the thread counts of the start are
/// restored.
class Policy final : public Rule {
 public:
  explicit Policy(PolicyOptions options);
  ~Policy() override;

  Verdict consider(const Window& window, const NodeShape& shape) override;
  /// Few while something is to be found out, many while loads are steady.
  int steps_wanted() const override;
  double seconds_wanted() const override;
  const std::vector<Scaling>& scaling() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::cores
