// SPDX-License-Identifier: BSD-3-Clause
#include "decide/forecast.h"

#include <cmath>

namespace steelyard::decide {

double Forecast::gain() const {
  return before_.count() > 0 && since_.count() > 0 ? 1 - std::exp(since_.mean() - before_.mean()) : 0;
}

Interval Forecast::interval(double confidence) const {
  // Both intervals hold together at this level if each holds at half the error.
  const double each = (1 + confidence) / 2;
  const Interval before = before_.interval(each), since = since_.interval(each);
  return {1 - std::exp(since.high - before.low), 1 - std::exp(since.low - before.high)};
}

Forecast::Result Forecast::result(double confidence) const {
  const Interval gain = interval(confidence);
  if (gain.low > 0) return Result::confirmed;
  if (gain.high < promise_) return Result::refuted;
  return Result::undecided;
}

}  // namespace steelyard::decide
