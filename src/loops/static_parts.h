// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "decide/forecast.h"
#include "decide/settings.h"

namespace steelyard::loops {

/// How plain static loops of one region, all with one iteration count, are divided among threads. The parts are even at
/// first. If the threads need different times, Steelyard tries parts that should need equal times, and keeps them only
/// if the loops become faster (decide/forecast.h).
///
/// Pure: no clock. Not thread-safe: only the thread that ends the region calls it.
class StaticParts {
 public:
  StaticParts(int threads, decide::Settings settings);

  /// Boundaries of the parts in the next execution: fractions of the loop, from 0 to 1, one more than threads.
  const std::vector<double>& boundaries() const { return now_; }
  /// Boundaries of the parts that were decided upon: even, or confirmed to be faster.
  const std::vector<double>& decided() const { return best_; }
  bool decided_even() const { return best_ == even_; }
  /// Other parts than those are being tried, and the trial is undecided.
  bool trying() const { return forecast_.has_value(); }

  /// An execution has ended.
  /// @param ns by thread, summed over all these loops
  /// @param slowest_ns the time of the slowest thread in each loop, summed over the loops
  void executed(std::span<const double> ns, double slowest_ns);

  /// Share of the loops' time with even parts that the parts save, by the confirmed forecasts. 0 for even parts.
  double gain() const { return decided_even() ? 0 : 1 - left_; }

 private:
  /// Executions from which parts are planned: more than Estimate needs for an interval (4). A trial has at most twice
  /// as many.
  static constexpr int kPlanned = 8;
  /// Pause after parts that were not confirmed, in plans of kPlanned executions. It doubles each time, up to the second
  /// number, so that the trials of a loop that cannot be balanced take less and less of the run.
  static constexpr int kFirstPause = 8, kLongestPause = 1024;

  void verify();
  void plan();
  void use(std::vector<double> parts);

  decide::Settings settings_;
  std::vector<double> even_, now_, best_;
  std::vector<std::vector<double>> ns_;       ///< by thread, since the last plan
  std::vector<double> slowest_;               ///< since the last plan
  std::optional<decide::Forecast> forecast_;  ///< of the parts that are being tried
  double left_ = 1;                           ///< share of the time with even parts
  int pause_ = 0, next_pause_ = kFirstPause;
  bool cold_ = true;  ///< the next execution is the first, or the first with other parts
};

}  // namespace steelyard::loops
