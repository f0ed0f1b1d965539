// SPDX-License-Identifier: BSD-3-Clause
#include "loops/fraction.h"

#include <algorithm>
#include <cmath>

namespace steelyard::loops {

double dynamic_fraction(double count, int threads, double iteration_ns, double chunk_ns, double spread_ns) {
  const double work = count * (iteration_ns + std::max(0.0, chunk_ns));
  if (!(work > 0) || !(spread_ns > 0) || threads < 2) return 0;
  return std::min(1.0, threads * spread_ns / work);
}

double less_slack(double dynamic, double count, int threads, double iteration_ns, double slack_ns) {
  const double work = count * iteration_ns;
  if (!(work > 0) || !(slack_ns > 0)) return dynamic;
  return std::max(0.0, dynamic - slack_ns * threads / work);
}

double tuned_fraction(double model, const std::vector<FractionTrial>& trials, bool* settled) {
  if (settled != nullptr) *settled = false;
  const auto tried = [&](double fraction) -> const FractionTrial* {
    for (const FractionTrial& trial : trials) {
      if (std::abs(trial.fraction - fraction) < kFractionStep / 2) return &trial;
    }
    return nullptr;
  };
  const auto open = [&](double fraction) {
    const FractionTrial* trial = tried(fraction);
    return trial == nullptr || trial->runs < kFractionRuns;
  };
  if (open(model)) return model;
  const auto best = std::ranges::min_element(trials, [](const FractionTrial& a, const FractionTrial& b) {
    const bool a_done = a.runs >= kFractionRuns, b_done = b.runs >= kFractionRuns;
    return a_done != b_done ? a_done : a.ns < b.ns;
  });
  for (const double next : {best->fraction + kFractionStep, best->fraction - kFractionStep}) {
    const double inside = std::clamp(next, 0.0, 1.0);
    // At a limit the last step is shorter; one that leads nowhere new is none.
    if (std::abs(inside - best->fraction) >= kFractionStep / 2 && open(inside)) {
      const FractionTrial* begun = tried(inside);
      return begun == nullptr ? inside : begun->fraction;
    }
  }
  if (settled != nullptr) *settled = true;
  return best->fraction;
}

}  // namespace steelyard::loops
