// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <deque>
#include <vector>

#include "cores/plan.h"
#include "decide/forecast.h"
#include "decide/settings.h"

namespace steelyard::cores {

struct Window;

/// The latest windows with the same loads and thread counts.
class Spell {
 public:
  void add(const Window& window);
  void clear() { samples_.clear(); }
  std::size_t windows() const { return samples_.size(); }

  struct Sample {
    double elapsed;     ///< s a step
    double efficiency;  ///< share of the cores' time that was spent computing
    int steps;
  };
  const std::deque<Sample>& samples() const { return samples_; }
  /// s a step: the geometric mean; 0 without a window.
  double elapsed() const;

 private:
  std::deque<Sample> samples_;
};

/// A move that was made, and its forecast.
struct Trial {
  Plan applied;
  Plan previous;                                      ///< what to go back to
  double forecast = 0;                                ///< gain, as a fraction of the step time
  double confidence = decide::Settings().confidence;  ///< level of the interval
  std::vector<ProcessLoad> loads;                     ///< in one step, before the move
  Spell before, after;
  double first_elapsed = 0;  ///< s a step in the window in which the move took place
  int first_steps = 0;       ///< of that window; 0: it has not come in yet

  enum class Ruling {
    open,    ///< more windows are needed
    helped,  ///< confirmed
    failed,  ///< refuted, or not confirmed after Trial::kWindows, and the best guess is that nothing was gained
    kept,    ///< not confirmed after Trial::kWindows, and the best guess is a gain
  };
  /// Windows after which a ruling is made whatever the uncertainty.
  static constexpr std::size_t kWindows = 8;
  struct Judgement {
    Ruling ruling = Ruling::open;
    double gain = 0;
    decide::Interval interval = {0, 0};  ///< of the gain; within -1 and 1
  };
  /// Compares step times if the total load is steady, otherwise how much of the cores' time went into computing.
  /// @param noise standard deviation of the time of one step, as a fraction
  Judgement judge(bool steady_total, double noise) const;
};

}  // namespace steelyard::cores
