// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace steelyard::tasks {

/// The node of each rank, and its number among the processes of that node.
class RankPlacement {
 public:
  RankPlacement() = default;
  /// From Transport::nodes() and ranks_per_node(), for `ranks` ranks.
  RankPlacement(int ranks, int ranks_per_node, std::vector<std::int32_t> nodes);
  int ranks() const { return ranks_; }
  int nodes() const { return node_count_; }
  int node(int rank) const { return table_.empty() ? rank / ranks_per_node_ : table_[static_cast<std::size_t>(rank)]; }
  /// Processes of a node.
  int node_size(int node) const;
  /// The rank of process `local` of a node.
  int rank(int node, int local) const;
  /// The number of a rank in its node.
  int local(int rank) const;

 private:
  int ranks_ = 1, ranks_per_node_ = 1, node_count_ = 1;
  std::vector<std::int32_t> table_;  // the node of each rank; empty if each node has ranks_per_node_ ranks
  std::vector<std::vector<std::int32_t>> members_;  // the ranks of each node; likewise
};

}  // namespace steelyard::tasks
