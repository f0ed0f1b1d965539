// SPDX-License-Identifier: BSD-3-Clause
#include "loops/profile.h"

#include <algorithm>
#include <numeric>

namespace steelyard::loops {

double Profile::total() const { return std::accumulate(cost.begin(), cost.end(), 0.0); }

double Profile::until(double fraction) const {
  double sum = 0;
  for (std::size_t i = 0; i < cost.size(); ++i) {
    const double begin = place[i], end = place[i + 1];
    if (fraction >= end)
      sum += cost[i];
    else if (fraction > begin)
      sum += cost[i] * (fraction - begin) / (end - begin);
  }
  return sum;
}

Profile add(const Profile& a, const Profile& b) {
  if (!a.known()) return b;
  if (!b.known()) return a;
  Profile sum;
  std::ranges::merge(a.place, b.place, std::back_inserter(sum.place));
  const auto same = std::ranges::unique(sum.place);
  sum.place.erase(same.begin(), same.end());
  double before = 0;
  for (std::size_t i = 1; i < sum.place.size(); ++i) {
    const double until = a.until(sum.place[i]) + b.until(sum.place[i]);
    sum.cost.push_back(until - before);
    before = until;
  }
  return sum;
}

std::vector<double> even_parts(int parts) {
  std::vector<double> boundaries;
  for (int i = 0; i <= parts; ++i) boundaries.push_back(static_cast<double>(i) / parts);
  return boundaries;
}

std::vector<double> equal_parts(const Profile& profile, int parts) {
  const double total = profile.known() ? profile.total() : 0;
  if (!(total > 0)) return even_parts(parts);
  std::vector<double> boundaries = {0};
  double before = 0;  // cost of the pieces before this one
  std::size_t piece = 0;
  for (int i = 1; i < parts; ++i) {
    const double wanted = total * i / parts;
    while (piece + 1 < profile.cost.size() && before + profile.cost[piece] < wanted) before += profile.cost[piece++];
    const double begin = profile.place[piece], end = profile.place[piece + 1];
    const double part = profile.cost[piece] > 0 ? std::min(1.0, (wanted - before) / profile.cost[piece]) : 1;
    boundaries.push_back(std::clamp(begin + (end - begin) * part, boundaries.back(), 1.0));
  }
  boundaries.push_back(1);
  return boundaries;
}

double imbalance(const Profile& profile, const std::vector<double>& parts) {
  const double total = profile.known() ? profile.total() : 0;
  if (!(total > 0) || parts.size() < 2) return 0;
  double dearest = 0, before = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const double until = profile.until(parts[i]);
    dearest = std::max(dearest, until - before);
    before = until;
  }
  return std::max(0.0, dearest * static_cast<double>(parts.size() - 1) / total - 1);
}

}  // namespace steelyard::loops
