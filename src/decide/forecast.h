// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "decide/estimate.h"

namespace steelyard::decide {

/// A change that is made once, with the gain that was promised for it: what was measured before it, and since.
///
/// Gains are fractions of the duration before the change. Not thread-safe.
class Forecast {
 public:
  enum class Result {
    undecided,
    confirmed,  ///< the interval of the gain lies above zero
    refuted,    ///< the interval excludes the promise from above, and does not lie above zero
  };
  /// @param promise gain, as a fraction
  /// @param before log durations before the change
  /// @param prior_deviation of one log duration since, and how many values this prior counts for
  Forecast(double promise, const Estimate& before, double prior_deviation = Estimate::kPriorDeviation,
           double prior_weight = Estimate::kPriorWeight)
      : promise_(promise), before_(before), since_(prior_deviation, prior_weight) {}
  /// @param log_duration of an execution since the change
  void add(double log_duration) { since_.add(log_duration); }
  int count() const { return since_.count(); }
  /// Best guess of the gain.
  double gain() const;
  Interval interval(double confidence) const;
  Result result(double confidence) const;

 private:
  double promise_;
  Estimate before_, since_;
};

}  // namespace steelyard::decide
