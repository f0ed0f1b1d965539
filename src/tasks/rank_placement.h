// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace steelyard::tasks {

/// On which node each rank is, and which of the node's processes it is.
class Places {
 public:
  Places() = default;
  /// From Transport::nodes() and ranks_per_node(), for `ranks` ranks.
  Places(int ranks, int ranks_per_node, std::vector<std::int32_t> nodes);
  int ranks() const { return ranks_; }
  int nodes() const { return node_count_; }
  int node(int rank) const { return table_.empty() ? rank / ranks_per_node_ : table_[static_cast<std::size_t>(rank)]; }
  int node_size(int node) const;
  int rank(int node, int local) const;
  int local(int rank) const;

 private:
  int ranks_ = 1, ranks_per_node_ = 1, node_count_ = 1;
  std::vector<std::int32_t> table_;                 // only if the formula does not hold
  std::vector<std::vector<std::int32_t>> members_;  // likewise
};

}  // namespace steelyard::tasks
