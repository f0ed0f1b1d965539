// SPDX-License-Identifier: BSD-3-Clause
#include "decide/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace steelyard::decide {

std::string to_text(const Interval& interval, double confidence) {
  return fmt::format("{:g} % CI {:.1f} to {:.1f} %", 100 * confidence, 100 * interval.low, 100 * interval.high);
}

double standard_errors(double confidence) {
  double low = 0, high = 40;  // erf() is 1 in a double long before
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2)) < confidence ? low : high) = middle;
  }
  return low;
}

void Estimate::add(double value) {
  // Two values do not tell which of them is the outlier.
  if (count_ >= 2) {
    const double far = kClip * deviation();
    value = std::clamp(value, mean_ - far, mean_ + far);
  }
  ++count_;
  const double distance = value - mean_;
  mean_ += distance / count_;
  squares_ += distance * (value - mean_);
}

double Estimate::deviation() const { return std::sqrt((prior_ + squares_) / (weight_ + std::max(0.0, count_ - 1))); }

Interval Estimate::interval(double confidence) const {
  // E(m) < 1 / a, solved for the distance of m from the mean.
  const double least = 1 - std::pow((1 - confidence) / std::sqrt(count_ + 1), 2 / (count_ + weight_));
  const double room = count_ - least * (count_ + 1);
  if (count_ < 1 || room <= 0) return {};
  const double far = std::sqrt(least * (count_ + 1) * (prior_ + squares_) / (count_ * room));
  return {mean_ - far, mean_ + far};
}

}  // namespace steelyard::decide
