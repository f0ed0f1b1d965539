// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/rank_placement.h"

#include <algorithm>

namespace steelyard::tasks {

RankPlacement::RankPlacement(int ranks, int ranks_per_node, std::vector<std::int32_t> nodes)
    : ranks_(ranks),
      ranks_per_node_(ranks_per_node),
      node_count_((ranks + ranks_per_node - 1) / ranks_per_node),
      table_(std::move(nodes)) {
  if (table_.empty()) return;
  node_count_ = 1 + *std::max_element(table_.begin(), table_.end());
  members_.resize(static_cast<std::size_t>(node_count_));
  for (int rank = 0; rank < ranks; ++rank) members_[static_cast<std::size_t>(node(rank))].push_back(rank);
}

int RankPlacement::node_size(int node) const {
  if (!table_.empty()) return static_cast<int>(members_[static_cast<std::size_t>(node)].size());
  return std::min(ranks_per_node_, ranks_ - node * ranks_per_node_);
}

int RankPlacement::rank(int node, int local) const {
  if (!table_.empty()) return members_[static_cast<std::size_t>(node)][static_cast<std::size_t>(local)];
  return node * ranks_per_node_ + local;
}

int RankPlacement::local(int rank) const {
  if (table_.empty()) return rank % ranks_per_node_;
  const auto& members = members_[static_cast<std::size_t>(node(rank))];
  return static_cast<int>(std::lower_bound(members.begin(), members.end(), rank) - members.begin());
}

}  // namespace steelyard::tasks
