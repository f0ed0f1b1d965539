// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "collectives/clock_offset.h"

namespace steelyard::collectives {
namespace {

std::vector<int> upto(int size) {
  std::vector<int> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(Tree, ReachesEachPositionOnceThroughItsParent) {
  for (int size = 1; size <= 130; ++size) {
    std::vector<int> reached(static_cast<std::size_t>(size));
    for (int position = 0; position < size; ++position) {
      int below = 1;
      for (const int child : tree::children(position, size)) {
        ++reached[static_cast<std::size_t>(child)];
        EXPECT_EQ(tree::parent(child), position);
        below += tree::subtree(child, size);
      }
      EXPECT_EQ(tree::subtree(position, size), below) << position << " of " << size;
    }
    EXPECT_EQ(std::accumulate(reached.begin(), reached.end(), 0), size - 1);
    EXPECT_EQ(tree::by_importance(size).front(), 0);
  }
}

TEST(VirtualRanks, StayAPermutationForAnyRootWhateverIsExchanged) {
  std::mt19937 random(1);
  for (int size = 1; size <= 40; ++size) {
    VirtualRanks table(size);
    for (int round = 0; round < 20; ++round) {
      const auto some = [&] { return static_cast<int>(random() % static_cast<unsigned>(size)); };
      table.exchange(some(), some());
      const int root = some();
      std::set<int> positions;
      for (int rank = 0; rank < size; ++rank) {
        positions.insert(table.position(rank, root));
        EXPECT_EQ(table.rank(table.position(rank, root), root), rank);
      }
      EXPECT_EQ(static_cast<int>(positions.size()), size);
      EXPECT_EQ(*positions.rbegin(), size - 1);
      EXPECT_EQ(table.position(root, root), 0);
    }
  }
}

TEST(VirtualRanks, RefuseWhatIsNoPermutation) {
  VirtualRanks table(3);
  for (const std::vector<int>& bad : {std::vector<int>{0, 1}, {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}, {0, 1, 2, 3}}) {
    EXPECT_FALSE(table.assign(bad));
  }
  EXPECT_EQ(table.ranks(), upto(3));
  EXPECT_TRUE(table.assign({2, 0, 1}));
}

Settings with(Policy policy) {
  Settings settings;
  settings.policy = policy;
  settings.every = 4;
  settings.threshold = 1000;
  return settings;
}

TEST(Optimiser, ChangesNothingWithoutLoads) {
  for (const Policy policy : {Policy::swap, Policy::sort, Policy::binomial}) {
    for (int size = 1; size <= 33; ++size) {
      Optimiser optimiser(size, with(policy));
      VirtualRanks table(size);
      int period = 4;
      for (int round = 0; round < 6; ++round) {
        for (int rank = 0; rank < size; ++rank)
          optimiser.report(rank, rank * 1000 / size);  // noise below the threshold
        const Plan plan = optimiser.plan(table, round % size);
        EXPECT_FALSE(plan.changed);
        EXPECT_GE(plan.next, period);  // and looks less and less often
        period = plan.next;
      }
      EXPECT_EQ(period, 32);
    }
  }
}

TEST(Optimiser, SortMakesLateRanksLeavesAtOnceAndKeepsTheOrderOfTheOthers) {
  std::mt19937 random(2);
  for (int size = 2; size <= 40; ++size) {
    for (int root = 0; root < size; root += 3) {
      Optimiser optimiser(size, with(Policy::sort));
      VirtualRanks table(size);
      std::set<int> late;
      while (static_cast<int>(late.size()) < size / 4) {
        const int rank = static_cast<int>(random() % static_cast<unsigned>(size));
        if (rank != root && late.insert(rank).second) optimiser.report(rank, 5000 + rank);
      }
      const Plan plan = optimiser.plan(table, root);
      if (plan.changed) {
        ASSERT_TRUE(table.assign(plan.ranks));
      }
      for (const int rank : late) EXPECT_EQ(tree::subtree(table.position(rank, root), size), 1);
      EXPECT_FALSE(optimiser.plan(table, root).changed) << "it has settled";
    }
  }
}

TEST(Optimiser, SwapExchangesTheLongestWaiterForTheShortestOncePerPlan) {
  Optimiser optimiser(8, with(Policy::swap));
  VirtualRanks table(8);
  for (int rank = 1; rank < 8; ++rank) optimiser.report(rank, 10'000 + rank);
  optimiser.report(4, 0);  // the root's first receiver is late: others wait for it, and it does not
  const Plan plan = optimiser.plan(table, 0);
  ASSERT_TRUE(plan.changed);
  EXPECT_EQ(plan.ranks, (std::vector<int>{0, 1, 2, 3, 7, 5, 6, 4}));
  EXPECT_EQ(plan.next, 4);
  ASSERT_TRUE(table.assign(plan.ranks));
  EXPECT_FALSE(optimiser.plan(table, 0).changed) << "the longest waiter already stands higher";
}

TEST(Optimiser, SwapFindsTheLateRankAmongManyThatHardlyWait) {
  // Short messages: only those below the late rank wait, and all others as little as it does.
  for (const int size : {8, 13, 32, 100}) {
    for (int late = 1; late < size; ++late) {
      Optimiser optimiser(size, with(Policy::swap));
      VirtualRanks table(size);
      for (int round = 0; round < 8; ++round) {
        for (int rank = 1; rank < size; ++rank) {
          bool below = false;
          for (int at = table.position(rank, 0); at > 0; at = tree::parent(at)) {
            below = below || (rank != late && table.rank(at, 0) == late);
          }
          optimiser.report(rank, below ? 10'000'000 + rank : rank % 7 * 100);
        }
        const Plan plan = optimiser.plan(table, 0);
        if (plan.changed) {
          ASSERT_TRUE(table.assign(plan.ranks));
        }
      }
      EXPECT_EQ(tree::subtree(table.position(late, 0), size), 1) << late << " of " << size;
    }
  }
}

/// As a rank that reports to the optimiser.
bool tells(Reporter& reporter, const Measured& measured) {
  const bool tells = reporter.measured(measured);
  if (tells) reporter.reported();
  return tells;
}

TEST(Reporter, TellsChangesAboveTheThreshold) {
  Reporter swap(with(Policy::swap));
  EXPECT_FALSE(tells(swap, {900, 0}));
  EXPECT_TRUE(tells(swap, {5000, 0}));
  EXPECT_FALSE(tells(swap, {5900, 0}));
  EXPECT_TRUE(tells(swap, {0, 0}));
  Reporter sort(with(Policy::sort));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(tells(sort, {1'000'000, -1'000'000})) << "early is not late";
  EXPECT_TRUE(tells(sort, {0, 10'000}));
  bool told_back = false;
  for (int i = 0; i < 20; ++i) told_back |= tells(sort, {0, 0});
  EXPECT_TRUE(told_back);
  EXPECT_LT(sort.value(), 1000);
  Reporter binomial(with(Policy::binomial));
  EXPECT_FALSE(tells(binomial, {1'000'000, 1'000'000}));
}

TEST(Reporter, GoesOnUntilItIsTold) {
  Reporter reporter(with(Policy::sort));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(reporter.measured({0, 10'000}));
  reporter.reported();
  for (int i = 0; i < 30; ++i) {
    if (reporter.measured({0, 10'000})) reporter.reported();
  }
  EXPECT_FALSE(reporter.measured({0, 10'000}));
}

constexpr std::int64_t kSecond = 1'000'000'000;

/// A rank whose clock gains `drift` of each ns, in `count` broadcasts, `apart` ns from one to the next, which come
/// `transit` ns after they were sent. How late the last one was by its clock, where it came `late` ns after the data
/// could have been there from the one on that has the number `first_late`.
std::int64_t lateness(double drift, std::int64_t late, int count, int first_late, std::int64_t apart = kSecond) {
  constexpr std::int64_t transit = 3000;
  ClockOffset offset(transit);
  std::int64_t seen = 0;
  for (int i = 1; i <= count; ++i) {
    const std::int64_t sent = i * apart, there = sent + transit;
    const auto ahead = static_cast<std::int64_t>(static_cast<double>(sent) * drift);
    const std::int64_t came = i >= first_late ? there + late : there - 20'000;
    const std::int64_t got = std::max(there, came);
    offset.add_message(sent, got + ahead, got > came);
    seen = came + ahead - sent - offset.ns();
  }
  return seen;
}

TEST(ClockOffset, FollowsClocksThatDriftApartAndIsNotTakenInByWhoIsLate) {
  for (const double drift : {0.0, 1e-6, -1e-6, 1e-5, -1e-5}) {
    EXPECT_LT(lateness(drift, 0, 1000, 1001), 0) << drift << ": came in time";
    EXPECT_NEAR(lateness(drift, 10'000'000, 400, 390), 10'000'000, 200'000) << drift;
  }
  EXPECT_NEAR(lateness(0, 10'000'000, 100'000, 1), 10'000'000, 1) << "late from the first one on";
  EXPECT_LT(lateness(1e-5, 0, 1'000'000, 1'000'001, 40'000), 0) << "in time, and often";
}

}  // namespace
}  // namespace steelyard::collectives
