// SPDX-License-Identifier: BSD-3-Clause
#include "wait/back_off.h"

#include <gtest/gtest.h>

namespace steelyard::wait {
namespace {

constexpr BackOff kStages{.spin = 100, .yield = 50, .shortest = 10, .longest = 40, .part = 2};
constexpr BackOff kRows[] = {kMessage, kArrival, kMeeting, kTask, kSetUp};

TEST(BackOff, SpinsThenYieldsThenSleeps) {
  EXPECT_EQ(kStages.stage(0), Stage::spin);
  EXPECT_EQ(kStages.stage(99), Stage::spin);
  EXPECT_EQ(kStages.stage(100), Stage::yield);
  EXPECT_EQ(kStages.stage(149), Stage::yield);
  EXPECT_EQ(kStages.stage(150), Stage::sleep);
}

TEST(BackOff, LeavesOutAStageOfNoLength) {
  EXPECT_EQ((BackOff{.yield = 50}.stage(0)), Stage::yield);
  EXPECT_EQ((BackOff{.spin = 100}.stage(100)), Stage::sleep);
  EXPECT_EQ(BackOff{}.stage(0), Stage::sleep);
}

TEST(BackOff, SleepsPartOfTheWaitWithinItsBounds) {
  EXPECT_EQ(kStages.sleep(0), 10);
  EXPECT_EQ(kStages.sleep(21), 10);
  EXPECT_EQ(kStages.sleep(60), 30);
  EXPECT_EQ(kStages.sleep(1000), 40);
}

TEST(BackOff, BoundsEachSleepOfEachRow) {
  for (const BackOff& row : kRows) {
    EXPECT_GT(row.shortest, 0);
    EXPECT_GE(row.longest, row.shortest);
    EXPECT_GT(row.part, 0);
    EXPECT_EQ(row.sleep(std::int64_t{1} << 60), row.longest);
  }
}

TEST(StayAwake, EndsInTheStageInWhichTheWaitIsOver) {
  EXPECT_EQ(stay_awake({.spin = INT64_MAX}, base::now_ns(), [] { return true; }), Stage::spin);
  int asked = 0;
  const auto over_at_third = [&] { return ++asked == 3; };
  EXPECT_EQ(stay_awake({.yield = INT64_MAX}, base::now_ns(), over_at_third), Stage::yield);
  EXPECT_EQ(asked, 3);
}

TEST(StayAwake, EndsWhenItIsTimeToSleep) {
  const std::int64_t begin = base::now_ns();
  EXPECT_EQ(stay_awake({.spin = 100'000, .yield = 100'000}, begin, [] { return false; }), Stage::sleep);
  EXPECT_GE(base::now_ns() - begin, 200'000);
  EXPECT_EQ(stay_awake({}, begin, [] { return true; }), Stage::sleep) << "nothing is asked without a stage awake";
}

}  // namespace
}  // namespace steelyard::wait
