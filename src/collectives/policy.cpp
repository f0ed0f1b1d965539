// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/policy.h"

#include <algorithm>
#include <cstdlib>

#include "decide/estimate.h"

namespace steelyard::collectives {

bool Reporter::measured(const Measured& measured) {
  if (settings_.policy == Policy::binomial) return false;
  if (settings_.policy == Policy::soga) return soga_.waited(measured.wait);
  if (settings_.policy == Policy::swap) {
    value_ = measured.wait;
  } else {
    // A rank that arrives early delays no other rank, however early it is.
    value_ += (std::max<std::int64_t>(0, measured.late) - value_) / decide::kRecent;
  }
  return std::abs(value_ - told_) > settings_.threshold;
}

Optimiser::Optimiser(int size, const Settings& settings)
    : settings_(settings),
      next_(settings.every),
      known_(static_cast<std::size_t>(size), settings.policy == Policy::soga ? soga::kUnknown : 0) {}

void Optimiser::report(int rank, std::int64_t value) { known_[static_cast<std::size_t>(rank)] = value; }

bool Optimiser::any_rank_late() const {
  return std::any_of(known_.begin(), known_.end(), [&](std::int64_t late) { return late > settings_.threshold; });
}

Plan Optimiser::plan(const VirtualRanks& table, int root, bool other) {
  VirtualRanks next = table;
  Plan plan;
  if (settings_.policy == Policy::swap) plan.changed = exchange(next, root);
  if (settings_.policy == Policy::soga) plan.changed = soga::exchange(next, root, known_);
  if (settings_.policy == Policy::sort) plan.changed = sort(next, root);
  if (plan.changed) plan.ranks = next.ranks();
  const bool stays = plan.changed || other || settings_.policy == Policy::soga;
  next_ = stays ? settings_.every : std::min(next_ * 2, settings_.every * kMostPatience);
  plan.next = next_;
  return plan;
}

bool Optimiser::exchange(VirtualRanks& table, int root) const {
  int shortest = -1, longest = -1;
  const auto wait = [&](int rank) { return known_[static_cast<std::size_t>(rank)]; };
  for (int rank = 0; rank < table.size(); ++rank) {
    if (rank == root) continue;
    if (shortest < 0 || wait(rank) < wait(shortest)) shortest = rank;
    if (longest < 0 || wait(rank) > wait(longest)) longest = rank;
  }
  if (shortest < 0 || wait(longest) - wait(shortest) <= settings_.threshold) return false;
  // Of the ranks whose waits differ by no more than the threshold, the critical rank is the one whose receivers wait.
  const auto made_to_wait = [&](int rank) {
    std::int64_t most = 0;
    for (const int child : tree::children(table.position(rank, root), table.size())) {
      most = std::max(most, wait(table.rank(child, root)));
    }
    return most;
  };
  std::int64_t most = made_to_wait(shortest);
  const std::int64_t limit = wait(shortest) + settings_.threshold;
  for (int rank = 0; rank < table.size(); ++rank) {
    if (rank == root || wait(rank) > limit) continue;
    const std::int64_t theirs = made_to_wait(rank);
    if (theirs <= most) continue;
    shortest = rank;
    most = theirs;
  }
  // The longer waiter goes up, or stays.
  const auto sends = [&](int rank) { return tree::subtree(table.position(rank, root), table.size()); };
  if (sends(longest) >= sends(shortest)) return false;
  table.exchange(shortest, longest);
  return true;
}

bool Optimiser::sort(VirtualRanks& table, int root) const {
  const auto late = [&](int rank) {
    const std::int64_t ns = known_[static_cast<std::size_t>(rank)];
    return ns > settings_.threshold ? ns : 0;
  };
  const std::vector<int> positions = tree::by_importance(table.size());
  std::vector<int> ranks;
  for (const int position : positions) ranks.push_back(table.rank(position, root));
  // Ranks that are in time keep their order, so that without late ranks nothing changes. ranks[0] is the root.
  std::stable_sort(ranks.begin() + 1, ranks.end(), [&](int a, int b) { return late(a) < late(b); });
  std::vector<int> sorted(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) sorted[static_cast<std::size_t>(positions[i])] = ranks[i];
  // Only a change of the number of receivers of a rank is a change.
  const auto receivers = [&](int rank) { return tree::subtree(table.position(rank, root), table.size()); };
  bool changed = false;
  for (std::size_t position = 0; position < sorted.size(); ++position) {
    changed |= receivers(sorted[position]) != tree::subtree(static_cast<int>(position), table.size());
  }
  return changed && table.assign(sorted);
}

}  // namespace steelyard::collectives
