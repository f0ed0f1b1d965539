// SPDX-License-Identifier: BSD-3-Clause
#include "observe/other_region_record.h"

#include <gmock/gmock.h>

namespace steelyard::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(OtherRegionRecord, RanksAreAddedByPlaceAndKind) {
  std::vector<OtherRegion> regions;
  add_other_regions(regions, {{"app+0x1", "f", true, 1, 10, 2, 1.0, 1.5, 0.5}});
  add_other_regions(regions,
                    {{"app+0x1", "f", true, 1, 5, 3, 0.5, 0.5, 0.5}, {"app+0x1", "f", false, 1, 1, 2, 0.1, 0.2, 0}});
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].ranks, 2);
  EXPECT_EQ(regions[0].executions, 15);
  EXPECT_EQ(regions[0].threads, 3);
  EXPECT_DOUBLE_EQ(regions[0].time, 1.5);
  EXPECT_DOUBLE_EQ(regions[0].load_balance(), 2.0 / 3);
  EXPECT_FALSE(regions[1].nested);
}

TEST(OtherRegionRecord, TheSummaryTellsEachKindThatMatters) {
  RunRecord record;
  record.ranks.resize(1);
  record.ranks[0].totals.region_useful = 10'000'000'000;
  record.other_regions = {{"app+0x1", "f", true, 1, 10, 2, 1.0, 1.5, 0.5},
                          {"app+0x2", "g", true, 1, 900, 1, 8.0, 8.0, 0},
                          {"app+0x3", "h", false, 1, 1, 2, 0.1, 0.02, 0}};
  EXPECT_THAT(other_region_lines(record),
              ElementsAre("1 nested region: 2 thread s in 10 executions, load balance 75 %"));
  record.other_regions[2].useful = 4;
  EXPECT_THAT(
      other_region_lines(record),
      ElementsAre(HasSubstr("nested"), "1 region of other threads: 4 thread s in 1 execution, load balance 100 %"));
  record.other_regions.clear();
  EXPECT_THAT(other_region_lines(record), IsEmpty());
}

TEST(OtherRegionRecord, TheTableNamesPlaceAndKind) {
  RunRecord record;
  record.other_regions = {{"app+0x1", "f", true, 1, 10, 2, 1.0, 1.5, 0.5}};
  EXPECT_THAT(other_region_table(record), HasSubstr("app+0x1"));
  EXPECT_THAT(other_region_table(record), HasSubstr("in a region"));
  EXPECT_THAT(other_region_table(record), HasSubstr("75.0 %"));
}

}  // namespace
}  // namespace steelyard::observe
