#pragma once
#include <vector>

#include "cores/plan.h"

namespace steelyard::cores {

struct Window;

/// What the processes of a node do in one phase, learnt from windows: load with trend, noise, scaling with threads.
/// What all loads have in common (a longer phase) is told apart from how they compare (what balancing is about).
class Estimate {
 public:
  enum class News { steady, changed };

  /// `changed`: the loads are not what they were; the estimate starts again from this window. Times that follow from a
  /// changed thread count, whatever the scaling, are no change of the loads.
  News add(const Window& window);
  /// Windows of unchanged loads and thread counts that the estimate rests on. One alone is not to be trusted.
  int windows() const { return windows_; }
  /// Seconds in one phase, `ahead` phases from now where there is a trend.
  std::vector<ProcessLoad> loads(double ahead) const;
  const std::vector<Scaling>& scaling() const { return scaling_; }
  /// Standard deviation of a forecast gain that rests on the estimate, as a fraction.
  double noise() const;
  /// Standard deviation of the time of one phase, as a fraction.
  double phase_noise() const;
  /// True where the total load of a phase hardly varied so far: then elapsed times can be compared as they are.
  bool steady_total() const;
  /// Corrects the scaling: at `before` the processes ran with other thread counts and, as far as known, the same loads.
  void learn_scaling(const std::vector<ProcessLoad>& before);

 private:
  struct Process {
    ProcessLoad load;      ///< limits and threads as last seen
    double region = 0;     ///< s in regions in one phase, on its own cores
    double serial = 0;     ///< s outside
    double slope = 0;      ///< change of the region time in one phase
    int same_way = 0;      ///< windows for which the slope has kept its sign
    double borrowed = 1;   ///< measured region time over `region`
    double noise = 0.1;    ///< standard deviation of one phase, as a fraction of the longest process
    double scaling_variance = 0.25;
  };
  /// How far off a window is from what was expected, in seconds of a phase.
  double surprise(const Process& process, const ProcessLoad& seen, double busy) const;
  void restart(const Window& window);
  void follow(const Window& window, double weight);
  double longest() const;
  double most_noise() const;

  std::vector<Process> processes_;
  std::vector<Process> before_move_;  ///< while the first windows with new thread counts come in
  std::vector<Scaling> scaling_;
  int settling_ = 0;                  ///< windows until times with the new thread counts can be trusted
  int windows_ = 0;
  int windows_seen_ = 0;
  double phases_ = 0;                 ///< in the last window
  double variance_ = 1;               ///< of the estimate, in units of that of one phase
  double total_noise_ = 0.1;          ///< standard deviation of the common part, as a fraction
};

}  // namespace steelyard::cores
