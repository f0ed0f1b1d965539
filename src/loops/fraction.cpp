// SPDX-License-Identifier: BSD-3-Clause
#include "loops/fraction.h"

#include <algorithm>
#include <cmath>

namespace steelyard::loops {

double dynamic_fraction(double count, int threads, double iteration_ns, double extra_ns, double spread_ns) {
  const double work = count * (iteration_ns + std::max(0.0, extra_ns));
  if (!(work > 0) || !(spread_ns > 0) || threads < 2) return 0;
  return std::min(1.0, threads * spread_ns / work);
}

double less_slack(double dynamic, double count, int threads, double iteration_ns, double slack_ns) {
  const double work = count * iteration_ns;
  if (!(work > 0) || !(slack_ns > 0)) return dynamic;
  return std::max(0.0, dynamic - slack_ns * threads / work);
}

}  // namespace steelyard::loops
