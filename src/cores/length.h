// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cmath>

#include "decide/estimate.h"

namespace steelyard::cores {

/// Mean iteration time, s, and its confidence interval. Windows that resemble the one before them count for less.
class Length {
 public:
  void add(double seconds) {
    if (windows_ == 0) first_ = seconds;
    if (windows_ > 0) products_ += seconds * last_;
    ++windows_;
    sum_ += seconds;
    squares_ += seconds * seconds;
    last_ = seconds;
  }
  double mean() const { return windows_ > 0 ? sum_ / static_cast<double>(windows_) : 0; }
  /// From the standard error of the mean, corrected for the correlation of neighbours; as python/steelyard/compare.py.
  /// Of a single window, both bounds are its mean.
  decide::Interval interval(double confidence) const {
    const double half_width = decide::standard_errors(confidence) * standard_error();
    return {mean() - half_width, mean() + half_width};
  }

 private:
  double standard_error() const {
    if (windows_ < 2) return 0;
    const double n = static_cast<double>(windows_), m = mean();
    const double spread = std::max(0.0, squares_ - n * m * m);
    if (spread == 0) return 0;
    const double neighbours = products_ - m * (2 * sum_ - first_ - last_) + (n - 1) * m * m;
    const double alike = std::clamp(neighbours / spread, 0.0, 0.9);
    const double independent = std::max(2.0, n * (1 - alike) / (1 + alike));
    return std::sqrt(spread / (n - 1) / independent);
  }

  long windows_ = 0;
  double sum_ = 0, squares_ = 0;
  double products_ = 0;  // of neighbours
  double first_ = 0, last_ = 0;
};

}  // namespace steelyard::cores
