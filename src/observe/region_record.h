// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observe/metrics.h"
#include "observe/totals.h"

// Named regions of the program (steelyard/regions.h) in the run record, and what is printed of them.
namespace steelyard::observe {

struct RunRecord;

/// What one rank has done in a region.
struct RegionRank {
  int rank = 0;
  std::int64_t count = 0;  ///< executions
  Totals totals;           ///< of all executions
};

struct RegionRecord {
  std::string name;
  double wall = 0;                ///< s in all executions, of the rank where that is most
  Metrics metrics;                ///< of the ranks that have executed it, over `wall`
  std::vector<RegionRank> ranks;  ///< those that have executed it
};

/// Ranks run the same program: one entry a name.
void add_regions(std::vector<RegionRecord>& regions, std::vector<RegionRecord> more);
/// Derives `wall` and `metrics` of the record's regions from its ranks, and sorts them: the longest first.
void derive_regions(RunRecord& record);

/// One line a region for the summary, at most `most`. The last line counts the regions that have none.
std::vector<std::string> region_lines(const RunRecord& record, std::size_t most);
/// A table for the full report.
std::string region_table(const RunRecord& record);

}  // namespace steelyard::observe
