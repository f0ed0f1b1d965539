// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <limits>
#include <string>

namespace steelyard::decide {

/// A confidence interval.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool contains(double value) const { return low <= value && value <= high; }
  double half_width() const { return (high - low) / 2; }
};
/// Of fractions, as texts show it: "95 % CI 34.4 to 37.8 %".
std::string to_text(const Interval& interval, double confidence);

/// Half the width of the interval of this level of a normal mean whose standard error is known, in standard errors:
/// 1.96 for 0.95. For what is measured once, at the end.
double standard_errors(double confidence);

/// A mean of the recent values goes by one part in so many towards each new one. For what is followed, not judged.
inline constexpr int kRecent = 4;
/// Values from which anything is concluded: one alone has no deviation, and may be an accident.
inline constexpr int kFewest = 2;

/// The mean of a stream of values, with a confidence interval that stays valid however often it is looked at.
///
/// A confidence sequence for a mean of unknown variance: the likelihood ratio of a normal mixture over all other means,
/// with a prior over the variance (Wang and Ramdas 2025, "Anytime-valid t-tests and confidence sequences for Gaussian
/// means with unknown variance", after Lai 1976; Howard et al. 2021). With n values, prior weight v, and S and Q the
/// sum and the sum of squares of the distances from a mean m,
///     E(m) = sqrt(1 / (n + 1)) (1 - S^2 / ((n + 1) Q))^(-(n + v) / 2),    Q including v times the prior variance,
/// and the interval of level 1 - a is all m with E(m) < 1 / a. A value that is far from the mean is moved to
/// kClip standard deviations, so one disturbed execution does not decide.
///
/// For durations, add their logarithms or the logarithm of a ratio: a slowdown then has one size whatever the duration.
/// Not thread-safe.
class Estimate {
 public:
  /// Standard deviation of a log duration before anything is measured. From the simulated streams of contest_test.cpp:
  /// with 1 % more than 5 % of the decisions in loud noise are wrong; with 3 % no change is found sooner.
  static constexpr double kPriorDeviation = 0.02;
  /// How many values this prior counts for: as many as are needed to conclude anything.
  static constexpr double kPriorWeight = kFewest;
  /// Standard deviations: 0.3 % of the values of a normal stream are further away.
  static constexpr double kClip = 3;

  Estimate() : Estimate(kPriorDeviation, kPriorWeight) {}
  Estimate(double prior_deviation, double prior_weight)
      : prior_(prior_weight * prior_deviation * prior_deviation), weight_(prior_weight) {}
  void add(double value);
  int count() const { return static_cast<int>(count_); }
  double mean() const { return mean_; }
  double deviation() const;
  /// Of the mean, at level `confidence` (0 to 1). Infinite before it has any meaning: the fourth value with the default
  /// prior.
  Interval interval(double confidence) const;

 private:
  double count_ = 0, mean_ = 0, squares_ = 0;  // squares_: sum of the squared distances from the mean
  double prior_, weight_;                      // prior_: weight times variance
};

}  // namespace steelyard::decide
