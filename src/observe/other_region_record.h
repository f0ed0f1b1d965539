// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "observe/record.h"

// What is told of nested regions, and of regions that other threads than the primary begin.
namespace steelyard::observe {

/// Adds those of one rank to those of the ranks before it.
void add_other_regions(std::vector<OtherRegion>& regions, std::vector<OtherRegion> more);
/// A line for each kind that matters, for the summary.
std::vector<std::string> other_region_lines(const RunRecord& record);
/// The table of the full report.
std::string other_region_table(const RunRecord& record);

}  // namespace steelyard::observe
