// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <deque>
#include <vector>

#include "cores/plan.h"

namespace steelyard::cores {

struct Window;

/// How the node fared in some windows with the same loads and the same thread counts.
class Spell {
 public:
  void add(const Window& window);
  void clear() { samples_.clear(); }
  std::size_t windows() const { return samples_.size(); }
  int phases() const;

  struct Figure {
    double value = 0;
    double error = 0;  ///< standard error, same unit
  };
  /// s of a phase: the median. `noise`: what the standard deviation of one phase is at least, as a fraction.
  Figure elapsed(double noise) const;
  /// Share of the cores' time that was spent computing.
  Figure efficiency(double noise) const;

 private:
  struct Sample {
    double elapsed;
    double efficiency;
    int phases;
  };
  Figure median(double Sample::* figure, double noise) const;
  std::deque<Sample> samples_;
};

/// A move that was made and has to show that it helped.
struct Trial {
  Plan applied;
  Plan previous;                   ///< what to go back to
  double forecast = 0;             ///< gain, as a fraction of the phase time
  std::vector<ProcessLoad> loads;  ///< in one phase, before the move
  Spell before, after;
  double first_elapsed = 0;  ///< s a phase in the window in which the move took place
  int first_phases = 0;      ///< of that window; 0: it has not come in yet

  enum class Ruling { open, helped, failed };
  struct Judgement {
    Ruling ruling = Ruling::open;
    double gain = 0;
    double noise = 0;  ///< half width of the band
  };
  /// Compares phase times where the total load is steady, otherwise how much of the cores' time went into computing.
  /// Failed: less than a third of the forecast, and not above noise either.
  Judgement judge(bool steady_total, double noise) const;
};

}  // namespace steelyard::cores
