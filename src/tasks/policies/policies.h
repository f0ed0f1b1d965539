// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tasks/policy.h"

// Policies for comparison with what the paper on TITUS_DLB compares it with. Each has its own source file.
namespace steelyard::tasks {

/// `random`: victims among all nodes; results go directly to their owner's node.
std::unique_ptr<Policy> random_policy();
/// `master`: every node asks node 0, which asks every node.
std::unique_ptr<Policy> master_policy();
/// `groups`: hierarchical sharing in groups of `size` nodes; 0: of kGroup.
std::unique_ptr<Policy> groups_policy(int size);
inline constexpr int kGroup = 28;  ///< Size: nodes; as many as a node of the paper's cluster has cores
/// `none`: no task moves.
std::unique_ptr<Policy> no_moves();

/// Divides members by their loads into groups of at most `size` with similar loads: deals them out from the heaviest to
/// the lightest, forwards and backwards in turn.
/// @return the group of each member
std::vector<std::uint32_t> deal_into_groups(const std::vector<double>& loads, std::size_t size);

/// Links every vertex with every other.
class CompleteGraph final : public Overlay {
 public:
  using Overlay::Overlay;
  std::vector<std::int64_t> neighbours(std::int64_t vertex) const override;
  std::int64_t next(std::int64_t, std::int64_t to) const override { return to; }
  std::int64_t slot(std::int64_t from, std::int64_t to) const override;
};

}  // namespace steelyard::tasks
