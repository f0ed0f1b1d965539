// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cores/plan.h"

namespace steelyard::cores {

/// The cores of a node by domain, all of them to hand out.
/// @param owner,usable,domain by core: its process (negative: none), whether the job may use it, its domain
NodeShape shape_of(const std::vector<int>& owner, const std::vector<bool>& usable, const std::vector<int>& domain,
                   std::size_t processes);
/// By core: the first of the domains that the planner joins with its domain.
std::vector<int> joined_by_core(const std::vector<int>& domain, const NodeShape& shape);

/// One process of a job whose cores change while it runs.
struct Claim {
  int cores = 1;          ///< that it owns now
  bool fixed = false;     ///< its thread count must not change: it keeps as many cores as it owns
  int ceiling = 1 << 20;  ///< more are never given
};

/// Why these processes cannot do with so many cores, and what they need; empty if they can.
std::string too_few_reason(const std::vector<Claim>& claims, int cores);

/// The owner of each core once the job has the cores of `usable` alone; -1: none. Pure. The processes share them in
/// proportion to what they own now, and keep what they can of it; no process spans domains unless cores would be left
/// over otherwise.
/// @param owner,domain by core; a negative owner is none
/// @pre too_few_reason() is empty
std::vector<int> resized(const std::vector<int>& owner, const std::vector<bool>& usable, const std::vector<int>& domain,
                         const std::vector<Claim>& claims);

}  // namespace steelyard::cores
