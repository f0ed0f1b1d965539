// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cores/plan.h"
#include "decide/estimate.h"
#include "decide/settings.h"

// When to act: the paper leaves the step to the user, here it follows from what was measured.
namespace steelyard::cores {

/// All processes of the node over the same consecutive phases.
struct Window {
  double time = 0;     ///< s since the start of the run, at the window's end
  double elapsed = 0;  ///< s from its first phase's start to its last phase's end
  int phases = 0;      ///< phases in it
  std::vector<ProcessLoad> loads;
};

struct PolicyOptions {
  double least_gain = 0.02;   ///< fraction by which a forecast gain must exceed what could be noise
  double move_cost = 100e-6;  ///< s for each core that changes owner (rebinding, cold caches); refined by measurement
  double noise_factor = 2.5;  ///< standard deviations of what was seen that could be noise
  int every = 0;              ///< --balance-every: consider only each n-th phase, unconditionally of noise; 0 = decide
  int at = 0;                 ///< --balance-at: consider once, at this phase; 0 = decide
  decide::Settings decision = {};
};

enum class Action { none, apply, undo };

/// What the policy decides now, and why. Each goes into the record.
struct Verdict {
  Action action = Action::none;
  Plan plan;                 ///< for `apply` and `undo` (then: the counts and domains to go back to)
  std::string why;           ///< a sentence with figures
  double forecast_gain = 0;  ///< fraction of the phase time
  double noise = 0;          ///< fraction: the gain that could be noise
  double cost = 0;           ///< s
  /// Set once, when the last applied move was confirmed or refuted.
  bool judged = false;
  /// Set once, when its trial ended without either: after Trial::kWindows, because the loads or thread counts have
  /// changed, or because of another move.
  bool undecided = false;
  bool helped = false;
  double measured_gain = 0;
  decide::Interval measured = {0, 0};  ///< of the gain
};

/// Gets every window, in order. From them it learns each process's load, noise, trend and scaling, and decides. It
/// compares the last move with its forecast, reverts the move if it did not help, and then pauses, for longer each
/// time. Lives at the node leader. Not thread-safe; it has no clock.
///
/// How long a gain will last is unknown. The guess is: as long as the loads have been steady so far. Once they have
/// changed, the lengths of past steady stretches correct it. A change of loads is accepted if two windows agree on it.
/// If the loads change again before a move has paid, more windows have to agree, and the thread counts of the start are
/// restored.
class Policy {
 public:
  explicit Policy(PolicyOptions options);
  ~Policy();
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  Verdict consider(const Window& window, const NodeShape& shape);
  /// Steps that the next window should span at least: few while something is to be found out, many while loads are
  /// steady.
  int phases_wanted() const;
  /// How long these take, as long as phases have taken so far, s; 0: not known.
  double seconds_wanted() const;
  const std::vector<Scaling>& scaling() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::cores
