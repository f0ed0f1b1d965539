// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <deque>
#include <vector>

#include "cores/plan.h"

namespace steelyard::cores {

struct Window;

/// What the processes of a node do in one step, learnt from windows: load, noise, scaling with threads.
/// What all loads have in common (a longer step) is told apart from how they compare (what balancing is about).
class Estimate {
 public:
  enum class News { steady, changed };

  /// `changed`: the loads are not what they were; the estimate starts again from this window. Times that follow from a
  /// changed thread count, whatever the scaling, are no change of the loads.
  News add(const Window& window);
  /// Windows of unchanged loads and thread counts that the estimate rests on. One alone is not to be trusted.
  int windows() const { return windows_; }
  /// Steps in them: few while the loads move.
  double steps_on_record() const { return steps_on_record_; }
  /// Seconds in one step: the mean of these windows.
  std::vector<ProcessLoad> loads() const;
  /// Seconds in one step of the newest window: where the loads have just changed, an older one may be half and half.
  std::vector<ProcessLoad> newest() const;
  const std::vector<Scaling>& scaling() const { return scaling_; }
  /// Standard deviation of a gain that is forecast from loads(), as a fraction.
  double noise() const;
  /// Standard deviation of the time of one step, as a fraction.
  double step_noise() const;
  /// True where the total load of a step hardly varied so far: then elapsed times can be compared as they are.
  bool steady_total() const;
  /// Corrects the scaling: at `before` (seconds in one step) the processes ran with other thread counts and, as far as
  /// known, the same loads.
  void learn_scaling(const std::vector<ProcessLoad>& before);

 private:
  /// A window: seconds of one step, by process. Older windows are scaled to the total of the newest.
  struct Moment {
    double steps;
    std::vector<double> region, serial, measured;
    double busy(std::size_t process) const { return region[process] + serial[process]; }
  };
  struct Process {
    ProcessLoad load;               ///< limits and threads as last seen
    double region = 0, serial = 0;  ///< s in one step
    double steps = 1;               ///< that they are the means of: steps_on_record_ at that time
    double borrowed = 1;            ///< measured region time over that on its own cores
    double noise = 0.1;             ///< standard deviation of one step, as a fraction of the longest process
    double missed = 0;  ///< distance of the last window from the mean, if statistically significant; otherwise 0
    double scaling_variance = 0.25;
    double busy() const { return region + serial; }
  };

  /// How a window fits to those before it.
  struct Fit {
    bool changed = false;  ///< some process has another load
    bool drifts = false;   ///< two windows in a row miss the mean of some process on one side
  };

  /// What a window is compared with: after a change of thread counts, the loads before it.
  const std::vector<Process>& known() const { return settling_ > 0 ? before_move_ : processes_; }
  /// Keeps what is known if thread counts have changed.
  void note_move(const Window& window);
  /// Time of all processes together in one step, as a multiple of what is known. 1 if thread counts have just changed
  /// and the total load is steady: then the change comes from the thread counts. Updates the noise of the total.
  double common_change(const Window& window, double weight);
  /// Updates the noise of each process, and which of them the mean misses.
  /// @param common by how much all loads have changed alike
  Fit compare(const Window& window, double common, double weight);
  /// How far the time of a process in one step, `busy` s, is from all that the thread counts can explain, whatever the
  /// scaling: a fraction of the longest process.
  double distance(const Process& was, int threads, double busy) const;
  double mean(std::vector<double> Moment::* figure, std::size_t process) const;
  /// The newest window's estimate of the noise of one step, s: by second differences, in which a drift of the loads
  /// cancels.
  double unevenness(std::size_t process, double busy, double steps) const;
  void remember(const Window& window);

  std::vector<Process> processes_;
  std::vector<Process> before_move_;  ///< while the first windows with new thread counts come in
  std::vector<Scaling> scaling_;
  std::deque<Moment> recent_;
  double steps_on_record_ = 0;
  double reference_ = 0;  ///< s, the longest process in one step
  int settling_ = 0;      ///< windows until times with the new thread counts can be trusted
  int windows_ = 0;
  int windows_seen_ = 0;
  double total_noise_ = 0.1;  ///< standard deviation of the common part of one step, as a fraction
};

}  // namespace steelyard::cores
