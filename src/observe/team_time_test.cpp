// SPDX-License-Identifier: BSD-3-Clause
#include "observe/team_time.h"

#include <gtest/gtest.h>

namespace steelyard::observe {
namespace {

TEST(Team, DividesTheTimeOfEachThread) {
  ThreadCell cells[3];
  cells[0].begin = 110;  // computes until 150
  cells[0].open = 150;
  cells[1].begin = 120;  // waits 20 for its team and 10 for an accelerator, computes until 180
  cells[1].waited = 20;
  cells[1].gpu = 10;
  cells[1].tasks = 4;
  cells[1].open = 180;
  const TeamSplit split = split_team(cells, 3, 100, 200);
  EXPECT_EQ(split.first.useful, 40);
  EXPECT_EQ(split.first.imbalance, 30);
  EXPECT_EQ(split.first.scheduling, 10 + 20);
  EXPECT_EQ(split.first.capacity(), 100);
  EXPECT_EQ(split.others.useful, 30);
  EXPECT_EQ(split.others.imbalance, 20);
  EXPECT_EQ(split.others.gpu, 10);
  EXPECT_EQ(split.others.tasks, 4);
  EXPECT_EQ(split.others.scheduling, 20 + 20 + 100) << "the third has not come: all of its time is the runtime's";
  EXPECT_EQ(split.others.capacity(), 200);
}

TEST(Team, TellsTheBeginAndEndOfNestedRegionsFromWork) {
  ThreadCell cell;
  cell.begin = 100;
  cell.forked = 15;
  cell.end = 200;
  const TeamParts parts = split_team(&cell, 1, 100, 200).first;
  EXPECT_EQ(parts.useful, 85);
  EXPECT_EQ(parts.scheduling, 15);
  EXPECT_TRUE(parts.nests);
}

TEST(Team, AThreadThatStillRunsComputesUntilNow) {
  ThreadCell cells[2];
  cells[0].begin = 100;
  cells[1].begin = 100;
  cells[1].open = 130;
  const TeamSplit split = split_team(cells, 2, 100, 160);
  EXPECT_EQ(split.first.useful, 60);
  EXPECT_EQ(split.others.useful, 30);
  EXPECT_EQ(split.others.imbalance, 30);
}

TEST(Team, ClocksOfThreadsMayDiffer) {
  ThreadCell cells[2];
  cells[0].begin = 95;  // before the region
  cells[0].open = 190;
  cells[1].begin = 205;  // after its end
  const TeamSplit split = split_team(cells, 2, 100, 200);
  EXPECT_EQ(split.first.capacity(), 100);
  EXPECT_EQ(split.others.capacity(), 100);
}

}  // namespace
}  // namespace steelyard::observe
