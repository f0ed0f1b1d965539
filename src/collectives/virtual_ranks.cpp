// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/virtual_ranks.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace steelyard::collectives {
namespace tree {

namespace {

/// Below this distance a position sends: its lowest bit; for the root, the first power of two that reaches all.
unsigned reach(int position, int size) {
  const auto p = static_cast<unsigned>(position);
  return p == 0 ? std::bit_ceil(static_cast<unsigned>(size)) : p & -p;
}

int depth(int position) { return std::popcount(static_cast<unsigned>(position)); }

}  // namespace

int parent(int position) { return position == 0 ? -1 : position & (position - 1); }

std::vector<int> children(int position, int size) {
  std::vector<int> result;
  for (unsigned step = reach(position, size) >> 1; step > 0; step >>= 1) {
    if (const int child = position + static_cast<int>(step); child < size) result.push_back(child);
  }
  return result;
}

int subtree(int position, int size) { return std::min(static_cast<int>(reach(position, size)), size - position); }

std::vector<int> by_importance(int size) {
  std::vector<int> positions(static_cast<std::size_t>(size));
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(), [&](int a, int b) {
    return std::pair(-subtree(a, size), depth(a)) < std::pair(-subtree(b, size), depth(b));
  });
  return positions;
}

}  // namespace tree

VirtualRanks::VirtualRanks(int size) : rank_at_(static_cast<std::size_t>(size)) {
  std::iota(rank_at_.begin(), rank_at_.end(), 0);
  position_of_ = rank_at_;
}

bool VirtualRanks::assign(const std::vector<int>& ranks) {
  if (ranks.size() != rank_at_.size()) return false;
  std::vector<int> position_of(ranks.size(), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    if (ranks[i] < 0 || rank >= ranks.size() || position_of[rank] >= 0) return false;
    position_of[rank] = static_cast<int>(i);
  }
  rank_at_ = ranks;
  position_of_ = std::move(position_of);
  return true;
}

int VirtualRanks::position(int rank, int root) const {
  if (rank == root) return 0;
  if (rank == rank_at_[0]) return position_of_[static_cast<std::size_t>(root)];
  return position_of_[static_cast<std::size_t>(rank)];
}

int VirtualRanks::rank(int position, int root) const {
  if (position == 0) return root;
  const int rank = rank_at_[static_cast<std::size_t>(position)];
  return rank == root ? rank_at_[0] : rank;
}

void VirtualRanks::exchange(int rank, int other) {
  int& a = position_of_[static_cast<std::size_t>(rank)];
  int& b = position_of_[static_cast<std::size_t>(other)];
  std::swap(rank_at_[static_cast<std::size_t>(a)], rank_at_[static_cast<std::size_t>(b)]);
  std::swap(a, b);
}

}  // namespace steelyard::collectives
