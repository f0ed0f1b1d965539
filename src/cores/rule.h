// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cores/plan.h"
#include "decide/estimate.h"

// What decides when cores move, and to which ranks: Steelyard's own policy (policy.h), or the rule of a paper (sabo.h).
namespace steelyard::cores {

/// All processes of the node over the same consecutive steps.
struct Window {
  double time = 0;     ///< s since the start of the run, at the window's end
  double elapsed = 0;  ///< s from its first step's start to its last step's end
  int steps = 0;       ///< steps in it
  std::vector<ProcessLoad> loads;
};

enum class Action { none, apply, undo };

/// What the policy decides now, and the reason. Each goes into the record.
struct Verdict {
  Action action = Action::none;
  Plan plan;                 ///< for `apply` and `undo` (then: the counts and domains to go back to)
  std::string reason;        ///< a sentence with figures
  double forecast_gain = 0;  ///< fraction of the step time
  double noise = 0;          ///< fraction: the gain that could be noise
  double cost = 0;           ///< s
  /// Set once, when the last applied move was confirmed or refuted.
  bool judged = false;
  /// Set once, when the trial of the last move ended undecided: after Trial::kWindows, because the loads or thread
  /// counts have changed, or because of another move.
  bool undecided = false;
  bool helped = false;
  double measured_gain = 0;
  decide::Interval measured = {0, 0};  ///< of the gain
};

/// Gets every window, in order. Lives at the node leader. Not thread-safe; it has no clock.
class Rule {
 public:
  Rule() = default;
  virtual ~Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  virtual Verdict consider(const Window& window, const NodeShape& shape) = 0;
  /// Steps that the next window should span at least.
  virtual int steps_wanted() const = 0;
  /// How long these are expected to take, s; 0: unknown.
  virtual double seconds_wanted() const { return 0; }
};

/// Why no core can move between `processes` processes of a node; empty if cores can. `all_fixed`: no process may
/// change its thread count.
std::string immovable_reason(std::size_t processes, bool all_fixed, const NodeShape& shape);
/// The same, or that nothing was measured.
std::string no_plan_reason(const Window& window, const NodeShape& shape);
/// The window with 0 for times that are negative or not finite.
Window cleaned(Window window);

}  // namespace steelyard::cores
