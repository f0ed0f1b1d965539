// SPDX-License-Identifier: BSD-3-Clause
#include "observe/named_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace steelyard::observe {
namespace {

using testing::HasSubstr;

Totals at(std::int64_t wall, std::int64_t mpi = 0) {
  Totals totals;
  totals.wall = wall;
  totals.mpi = mpi;
  totals.serial = wall - mpi;
  return totals;
}

const RegionRank& part(const std::vector<RegionRecord>& records, std::string_view name) {
  for (const RegionRecord& record : records) {
    if (record.name == name) return record.ranks.at(0);
  }
  ADD_FAILURE() << "no region " << name;
  static const RegionRank none;
  return none;
}

void expect_failure(const base::Status& status, base::Code code, const std::string& words) {
  EXPECT_EQ(status.code(), code);
  EXPECT_THAT(status.sentence(), HasSubstr(words));
}

TEST(NamedRegions, AddsUpItsExecutions) {
  NamedRegions regions;
  EXPECT_TRUE(regions.begin("solve", at(100, 10)));
  EXPECT_TRUE(regions.end("solve", at(150, 20)));
  EXPECT_TRUE(regions.begin("solve", at(200, 30)));
  EXPECT_TRUE(regions.end("solve", at(300, 35)));
  const auto records = regions.records(3, at(400, 50));
  ASSERT_EQ(records.size(), 1u);
  const RegionRank& solve = part(records, "solve");
  EXPECT_EQ(solve.rank, 3);
  EXPECT_EQ(solve.count, 2);
  EXPECT_EQ(solve.totals.wall, 150);
  EXPECT_EQ(solve.totals.mpi, 15);
  EXPECT_EQ(solve.totals.serial, 135);
}

TEST(NamedRegions, AnOuterRegionIncludesTheInner) {
  NamedRegions regions;
  EXPECT_TRUE(regions.begin("outer", at(0)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(regions.begin("inner", at(10 * i)));
    EXPECT_EQ(regions.open(), "inner");
    EXPECT_TRUE(regions.end("inner", at(10 * i + 4)));
  }
  EXPECT_TRUE(regions.end("outer", at(50)));
  EXPECT_EQ(regions.open(), "");
  const auto records = regions.records(0, at(60));
  EXPECT_EQ(part(records, "inner").totals.wall, 12);
  EXPECT_EQ(part(records, "inner").count, 3);
  EXPECT_EQ(part(records, "outer").totals.wall, 50);
}

TEST(NamedRegions, WhatIsNotNestedIsRefusedAndChangesNothing) {
  NamedRegions regions;
  expect_failure(regions.end("a", at(1)), base::Code::invalid_state, "no region is open");
  EXPECT_TRUE(regions.begin("a", at(10)));
  EXPECT_TRUE(regions.begin("b", at(20)));
  expect_failure(regions.end("a", at(30)), base::Code::invalid_state, "region 'b', begun inside it, is open");
  expect_failure(regions.end("c", at(30)), base::Code::invalid_state, "innermost open region is 'b'");
  expect_failure(regions.begin("a", at(30)), base::Code::invalid_state, "innermost open region is 'b'");
  EXPECT_TRUE(regions.end("b", at(40)));
  expect_failure(regions.end("b", at(45)), base::Code::invalid_state, "is not open");
  EXPECT_TRUE(regions.end("a", at(50)));
  const auto records = regions.records(0, at(60));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(part(records, "a").totals.wall, 40);
  EXPECT_EQ(part(records, "b").totals.wall, 20);
  EXPECT_EQ(part(records, "a").count, 1);
}

TEST(NamedRegions, WhatIsOpenAtTheEndCountsUntilThen) {
  NamedRegions regions;
  EXPECT_TRUE(regions.begin("a", at(0)));
  EXPECT_TRUE(regions.end("a", at(5)));
  EXPECT_TRUE(regions.begin("a", at(10)));
  EXPECT_TRUE(regions.begin("b", at(30)));
  const auto records = regions.records(0, at(100));
  EXPECT_EQ(part(records, "a").totals.wall, 95);
  EXPECT_EQ(part(records, "a").count, 2);
  EXPECT_EQ(part(records, "b").totals.wall, 70);
  EXPECT_EQ(part(records, "b").count, 1);
}

TEST(NamedRegions, NamesHaveALengthAndANumber) {
  NamedRegions regions;
  expect_failure(regions.begin("", at(0)), base::Code::invalid_argument, "0 bytes");
  expect_failure(regions.begin(std::string(NamedRegions::kLongestName + 1, 'x'), at(0)), base::Code::invalid_argument,
                 "256 bytes");
  EXPECT_TRUE(regions.begin(std::string(NamedRegions::kLongestName, 'x'), at(0)));
  for (std::size_t i = 1; i < NamedRegions::kMostNames; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(regions.begin(name, at(1)));
    ASSERT_TRUE(regions.end(name, at(2)));
  }
  expect_failure(regions.begin("one more", at(3)), base::Code::out_of_memory, "'one more' is not measured");
  EXPECT_TRUE(regions.begin("7", at(3)));
}

}  // namespace
}  // namespace steelyard::observe
