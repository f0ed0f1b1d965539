// SPDX-License-Identifier: BSD-3-Clause
#include "observe/region_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/sample_records.h"
#include "observe/summary.h"

namespace steelyard::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Of ranks with 4 threads in runs of 10 s.
Contribution contribution(int rank, int node, std::vector<RegionRecord> regions) {
  Contribution part;
  part.rank = sample_rank(rank, node, 4, 9000, 10000);
  part.regions = std::move(regions);
  return part;
}

RegionRecord region(const std::string& name, int rank, std::int64_t count, const Totals& totals) {
  return {name, 0, {}, {{rank, count, totals}}};
}

TEST(RegionRecord, RanksAreMergedByName) {
  const Totals longer = sample_rank(0, 0, 4, 1900, 2000).totals, shorter = sample_rank(1, 0, 4, 900, 1000).totals;
  RunRecord record;
  merge(record, {contribution(1, 1, {region("solve", 1, 7, shorter), region("write", 1, 1, longer)}),
                 contribution(0, 0, {region("solve", 0, 5, longer), region("setup", 0, 1, shorter)})});
  ASSERT_EQ(record.regions.size(), 3u);
  const RegionRecord& solve = record.regions[0];
  EXPECT_EQ(solve.name, "solve") << "in the order of the first rank, the longest first";
  EXPECT_EQ(record.regions[1].name, "write");
  EXPECT_EQ(record.regions[2].name, "setup");
  EXPECT_DOUBLE_EQ(solve.wall, 2);
  ASSERT_EQ(solve.ranks.size(), 2u);
  EXPECT_EQ(solve.ranks[0].rank, 0);
  EXPECT_EQ(solve.ranks[0].count, 5);
  EXPECT_EQ(solve.ranks[1].totals.wall, shorter.wall);
  EXPECT_EQ(record.regions[1].ranks.size(), 1u);
  const Metrics expected = metrics_of({{0, 4, longer}, {1, 4, shorter}}, 2);
  EXPECT_DOUBLE_EQ(solve.metrics.parallel, expected.parallel);
  EXPECT_DOUBLE_EQ(solve.metrics.load_balance_out, expected.load_balance_out);
  EXPECT_LT(solve.metrics.load_balance_out, 1) << "the nodes are those of the ranks";
}

TEST(RegionRecord, ARegionThatIsAllOfTheRunHasTheMetricsOfTheRun) {
  std::vector<Contribution> parts;
  for (int i = 0; i < 4; ++i) {
    Contribution part = contribution(i, i / 2, {});
    part.rank.totals = sample_rank(i, 0, 4, 5000 + 1000 * i, 10000).totals;
    part.regions = {region("all", i, 1, part.rank.totals)};
    parts.push_back(part);
  }
  RunRecord record;
  merge(record, parts);
  EXPECT_DOUBLE_EQ(record.regions[0].wall, record.wall);
  EXPECT_DOUBLE_EQ(record.regions[0].metrics.parallel, record.metrics.parallel);
  EXPECT_DOUBLE_EQ(record.regions[0].metrics.load_balance, record.metrics.load_balance);
  EXPECT_DOUBLE_EQ(record.regions[0].metrics.communication, record.metrics.communication);
}

TEST(RegionRecord, LinesOfTheSummary) {
  const RunRecord record = rich_run();
  EXPECT_THAT(region_lines(record, 2),
              ElementsAre("solve: 50 % of the run, 40 executions; parallel efficiency 75 % = MPI 78 % x OpenMP 97 %",
                          "output: 1 % of the run, 1 execution; parallel efficiency 87 % = MPI 90 % x OpenMP 97 %"));
  EXPECT_THAT(region_lines(record, 1), ElementsAre("2 more regions: see `steelyard report --full`"));
  EXPECT_TRUE(region_lines(record, 0).empty());
  EXPECT_TRUE(region_lines(sample_run(), 3).empty());
}

TEST(RegionRecord, TheSummaryShowsThreeAndTheReportAll) {
  RunRecord record = rich_run();
  for (int i = 0; i < 4; ++i)
    add_regions(record.regions, {region("r" + std::to_string(i), 0, 1, record.regions[1].ranks[0].totals)});
  derive_regions(record);
  std::string text;
  for (const std::string& line : summary(record)) text += line + "\n";
  EXPECT_THAT(text, HasSubstr("  region    solve: "));
  EXPECT_THAT(text, HasSubstr("  region    output: "));
  EXPECT_THAT(text, HasSubstr("  region    4 more regions"));
  EXPECT_THAT(text, Not(HasSubstr("r0:")));
  const std::string table = region_table(record);
  for (const char* name : {"solve", "output", "r0", "r3"}) EXPECT_THAT(table, HasSubstr(name));
  EXPECT_THAT(full_report(record), HasSubstr(table));
}

TEST(RegionRecord, WaitsForAcceleratorsAreAFactor) {
  RunRecord record;
  Totals totals = sample_rank(0, 0, 4, 900, 1000).totals;
  totals.gpu_capacity = totals.region_useful / 4;
  totals.region_useful -= totals.gpu_capacity;
  merge(record, {contribution(0, 0, {region("kernel", 0, 1, totals)})});
  EXPECT_THAT(region_lines(record, 1)[0], HasSubstr("x GPU "));
}

}  // namespace
}  // namespace steelyard::observe
