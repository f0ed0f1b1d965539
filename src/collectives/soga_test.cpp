// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/soga.h"

#include <gtest/gtest.h>

#include "collectives/policy.h"

namespace steelyard::collectives {
namespace {

TEST(Soga, ReportsAWaitThatDiffersFromThePreviousOne) {
  soga::Reporter reporter(1000);
  EXPECT_FALSE(reporter.waited(900));
  EXPECT_FALSE(reporter.waited(1800)) << "the previous one counts, not the one reported last";
  EXPECT_TRUE(reporter.waited(5000));
  EXPECT_TRUE(reporter.waited(5000)) << "not yet told";
  reporter.reported();
  EXPECT_FALSE(reporter.waited(5000));
  EXPECT_EQ(reporter.value(), 5000);
}

TEST(Soga, ExchangesMaximumAndMinimumAlsoDownwards) {
  VirtualRanks table(8);
  // Rank 4 sends to most ranks and waits longest: the paper exchanges it all the same.
  EXPECT_TRUE(soga::exchange(table, 0, {0, 5, 5, 5, 9, 5, 5, 1}));
  EXPECT_EQ(table.position(4, 0), 7);
  EXPECT_EQ(table.position(7, 0), 4);
  EXPECT_FALSE(soga::exchange(table, 0, {0, 5, 5, 5, 5, 5, 5, 5}));
  VirtualRanks two(2);
  EXPECT_FALSE(soga::exchange(two, 0, {0, 5}));
}

TEST(Soga, ExchangesOnlyRanksWhoseWaitsHaveArrived) {
  VirtualRanks table(8);
  const std::int64_t none = soga::kUnknown;
  EXPECT_FALSE(soga::exchange(table, 0, {none, none, none, 5, none, none, none, none}));
  EXPECT_TRUE(soga::exchange(table, 0, {none, none, 7, 5, none, 9, none, none}));
  EXPECT_EQ(table.position(3, 0), 5);
  EXPECT_EQ(table.position(5, 0), 3);
}

TEST(Soga, PlansEveryNBroadcastsWithoutBackOff) {
  Settings settings;
  settings.policy = Policy::soga;
  settings.every = 4;
  Optimiser optimiser(8, settings);
  const VirtualRanks table(8);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(optimiser.plan(table, 0).next, 4);
  optimiser.report(4, 1);
  EXPECT_FALSE(optimiser.plan(table, 0).changed) << "no other wait is known";
  optimiser.report(2, 2);
  const Plan plan = optimiser.plan(table, 0);
  EXPECT_TRUE(plan.changed) << "the threshold is one of reports only";
  EXPECT_EQ(plan.next, 4);
}

}  // namespace
}  // namespace steelyard::collectives
