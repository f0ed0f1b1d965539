// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "observe/record.h"

namespace steelyard::observe {

/// Of each tree of broadcasts: the late nodes, and how many nodes they held up at first and at last. In the words of
/// the page (python/steelyard/trees.py).
std::vector<std::string> late_in_trees(const RunRecord& record);

/// With --collectives-tree=soga: how many times the trees were optimised, or that there were none. Otherwise empty.
std::vector<std::string> plans_by_soga(const RunRecord& record);

}  // namespace steelyard::observe
