// SPDX-License-Identifier: BSD-3-Clause
#include "observe/fixed_threads.h"

#include <gtest/gtest.h>

#include "base/options.h"

namespace steelyard::observe {
namespace {

/// Two ranks, each of which has spent 1 s in regions.
RunRecord two_ranks() {
  RunRecord record;
  record.ranks.resize(2);
  for (RankRecord& rank : record.ranks) rank.totals.region_wall = 1'000'000'000;
  return record;
}

TEST(FixedThreads, RegionsAreRemarkedByTheirCause) {
  RunRecord record = two_ranks();
  record.kept_regions = {{"app+0x10", "smooth", false, 2, 1.0}};
  EXPECT_EQ(kept_remark(record, KeptReason::query_thread_ids),
            "regions that query thread IDs kept their thread count (1 region, 50 % of the time in regions): smooth; "
            "`steelyard doctor --verbose PROGRAM` names the source lines, if compiled with -g");
  EXPECT_EQ(kept_remark(record, KeptReason::repeat_work), "");
  base::options_of_this_process().awaits_mpi = true;
  EXPECT_TRUE(kept_remark(record, KeptReason::query_thread_ids).ends_with(": smooth")) << "python3 has no such region";
  base::options_of_this_process().awaits_mpi = false;
  record.kept_regions[0].time = 0.001;
  EXPECT_EQ(kept_remark(record, KeptReason::query_thread_ids), "") << "too little time";
}

TEST(FixedThreads, AReasonIsRemarkedWithItsRegions) {
  RunRecord record = two_ranks();
  record.kept_regions = {{"app+0x10", "smooth", true, 2, 1.0}};
  EXPECT_TRUE(is_remarked(record, {0}, kept_reason(KeptReason::repeat_work)));
  EXPECT_FALSE(is_remarked(record, {0}, kept_reason(KeptReason::query_thread_ids)));
}

TEST(FixedThreads, AReasonIsRemarkedForTheSameRanks) {
  const std::string reason = "the program has phases";
  RunRecord record = two_ranks();
  EXPECT_FALSE(is_remarked(record, {1}, reason));
  record.remarks = {remark_of({1}, 2, fixed_remark(reason))};
  EXPECT_EQ(record.remarks[0], "rank 1: the program has phases: its thread count was not changed");
  EXPECT_TRUE(is_remarked(record, {1}, reason));
  EXPECT_FALSE(is_remarked(record, {0, 1}, reason));
  record.remarks = {remark_of({0, 1}, 2, fixed_remark(reason))};
  EXPECT_TRUE(is_remarked(record, {0, 1}, reason));
}

}  // namespace
}  // namespace steelyard::observe
