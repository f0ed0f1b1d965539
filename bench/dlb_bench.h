/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// The finaliser of splitmix64: random numbers by their index.
inline std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// The owner of a task of DLB_Bench, as in the paper: drawn from a gaussian over the ranks around the middle one, of
/// which 70 % fall on 10 % of the ranks.
inline int owner_of(std::uint64_t task, int ranks) {
  const double u = (static_cast<double>(mixed(2 * task) >> 11) + 0.5) * 0x1p-53;
  const double v = static_cast<double>(mixed(2 * task + 1) >> 11) * 0x1p-53;
  const double gauss = std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979 * v);
  return std::clamp(static_cast<int>(std::floor(ranks * (0.5 + 0.05 * gauss))), 0, ranks - 1);
}

/// For each rank, the share of the tasks that it and the ranks below it own in the DLB_Bench of TITUS_DLB: there the
/// gaussian is evaluated at the place of each rank. With 2 or 4 ranks, one rank owns all tasks.
inline std::vector<double> shares_by_place(int ranks) {
  std::vector<double> shares;
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double deviations = (static_cast<double>(rank) / ranks - 0.5) / 0.05;
    shares.push_back(sum += std::exp(-deviations * deviations / 2));
  }
  for (double& share : shares) share /= sum;
  return shares;
}

/// The owner of a task, drawn from such shares.
inline int owner_of(std::uint64_t task, const std::vector<double>& shares) {
  const double u = static_cast<double>(mixed(task) >> 11) * 0x1p-53;
  return static_cast<int>(std::upper_bound(shares.begin(), shares.end() - 1, u) - shares.begin());
}
