// SPDX-License-Identifier: BSD-3-Clause
#include "cores/holding.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "cores/played_node.h"
#include "node/binding.h"

namespace steelyard::cores {
namespace {

TEST(Holding, BeginsWithTheCoresThatItOwns) {
  Node node(4, 2, {0, 0, 1, 1});
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_EQ(node.cores(1), (Cores{2, 3}));
  EXPECT_FALSE(node.holdings[0]->settle(4, true)) << "nothing is lent, so nothing changes";
}

TEST(Holding, APlanIsFollowedOnlyWhenTheFormerUserHasLetGo) {
  Node node(4, 2, {0, 0, 1, 1});
  node.tables[0]->change_owners({0, 0, 0, 1});
  EXPECT_FALSE(node.holdings[0]->settle(4, true)) << "process 1 still uses core 2";
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_TRUE(node.holdings[1]->settle(4, true));
  EXPECT_EQ(node.cores(1), (Cores{3}));
  EXPECT_TRUE(node.holdings[0]->settle(4, true));
  EXPECT_EQ(node.cores(0), (Cores{0, 1, 2}));
}

TEST(Holding, TellsWhileAnotherProcessUsesItsCores) {
  Node node(4, 2, {0, 0, 1, 1});
  EXPECT_FALSE(node.holdings[1]->others_use());
  node.holdings[1]->lend_all(1, kLong, true);
  EXPECT_FALSE(node.holdings[1]->others_use()) << "lent, and its own use of the first core";
  node.holdings[0]->settle(3, true);
  EXPECT_TRUE(node.holdings[1]->others_use());
  EXPECT_FALSE(node.holdings[0]->others_use()) << "what it has borrowed is not its own";
  node.holdings[1]->come_back();
  EXPECT_TRUE(node.holdings[1]->others_use()) << "the borrower is in its region";
  node.holdings[0]->release(2);
  EXPECT_FALSE(node.holdings[1]->others_use());
}

TEST(Holding, ACoreThatTheProgramHasOfferedIsNoneThatItRunsOn) {
  Node node(4, 2, {0, 0, 1, 1});
  EXPECT_EQ(node.holdings[1]->offer(1, 1), 1);
  EXPECT_EQ(node.holdings[0]->acquire(1, {.until = 100}), 1);
  EXPECT_FALSE(node.holdings[1]->others_use());
}

TEST(Holding, RunsOnACoreThatItHasOfferedIfAPlanLeavesItNoOther) {
  Node node(4, 2, {0, 0, 0, 1});
  EXPECT_EQ(node.holdings[0]->offer(2, 1), 2);
  EXPECT_EQ(node.cores(0), (Cores{0}));
  node.tables[0]->change_owners({1, 0, 0, 1});
  node.holdings[0]->settle(4, false);
  EXPECT_EQ(node.cores(0), (Cores{1}));
  EXPECT_TRUE(node.holdings[0]->shares());
  EXPECT_EQ(node.tables[0]->lent_idle(), 2) << "both are offered still";
}

TEST(Holding, LeavesWithdrawnCoresAtItsNextRegion) {
  Node node(4, 2, {0, 0, 1, 1});
  node.holdings[1]->lend_all(1, kLong);
  node.tables[0]->change_owners({0, CoreTable::kWithdrawn, 1, CoreTable::kWithdrawn});
  EXPECT_EQ(node.tables[0]->withdrawn_in_use(), 1) << "the core that was lent is free at once";
  EXPECT_EQ(node.tables[0]->lent_idle(), 1);
  EXPECT_TRUE(node.holdings[0]->settle(4, true));
  EXPECT_EQ(node.cores(0), (Cores{0, 2})) << "core 3 cannot be borrowed";
  EXPECT_EQ(node.tables[0]->withdrawn_in_use(), 0);
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{2})) << "shared until process 0 returns it, and core 3 is not taken back";
  node.tables[0]->change_owners({0, 0, 1, 1});
  node.holdings[0]->settle(4, false);
  node.holdings[1]->settle(4, false);
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_EQ(node.cores(1), (Cores{2, 3}));
}

TEST(Holding, ABorrowerReturnsAWithdrawnCoreWhichIsNotLentOn) {
  Node node(3, 2, {0, 1, 1});
  node.holdings[1]->lend_all(1, kLong, true);
  EXPECT_TRUE(node.holdings[0]->settle(3, true));
  EXPECT_EQ(node.cores(0), (Cores{0, 2}));
  node.tables[1]->change_owners({0, 1, CoreTable::kWithdrawn});
  EXPECT_TRUE(node.holdings[0]->settle(3, true));
  EXPECT_EQ(node.cores(0), (Cores{0}));
  EXPECT_EQ(node.tables[0]->lent_idle(), 0);
  EXPECT_EQ(node.tables[0]->withdrawn_in_use(), 0);
}

TEST(Holding, ASlotIsBorrowedOnlyIfFewerProcessesComputeThanThereAreCores) {
  Node node(4, 4, {0, 1, 2, 3}, 2);  // 4 processes share 2 cores
  node.holdings[2]->lend_all(1, kLong);
  node.holdings[3]->lend_all(1, kLong);
  EXPECT_FALSE(node.holdings[0]->settle(2, true)) << "processes 0 and 1 use both cores";
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(node.holdings[0]->settle(4, true));
  EXPECT_EQ(node.cores(0).size(), 2U) << "two of three slots have no core";
}

TEST(Holding, ASlotWhoseOwnerWakesSoonHasNoCore) {
  Node node(3, 3, {0, 1, 2}, 1);  // 3 processes share 2 cores
  node.holdings[1]->lend_all(1, kLong);
  node.holdings[2]->lend_all(1, {.until = 100});
  EXPECT_FALSE(node.holdings[0]->settle(2, true, {.until = 101}));
  EXPECT_TRUE(node.holdings[0]->settle(2, true, {.until = 99}));
}

TEST(Holding, ABorrowedSlotIsReturnedOnceAnotherProcessComputes) {
  Node node(3, 3, {0, 1, 2}, 1);
  node.holdings[1]->lend_all(1, kLong);
  node.holdings[2]->lend_all(1, kLong);
  EXPECT_TRUE(node.holdings[0]->settle(2, true));
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_FALSE(node.holdings[0]->settle(2, true)) << "the same ones again";
  node.holdings[2]->come_back();
  EXPECT_TRUE(node.holdings[0]->settle(2, true)) << "process 1 still waits, but process 2 uses the core";
  EXPECT_EQ(node.cores(0), (Cores{0}));
  EXPECT_EQ(node.tables[0]->lent_idle(), 1);
}

TEST(Holding, TwoThatChangePlacesKeepTheirCoresUntilTheOtherAsks) {
  Node node(4, 2, {0, 0, 1, 1});
  node.tables[0]->change_owners({1, 1, 0, 0});
  EXPECT_FALSE(node.holdings[0]->settle(4, true))
      << "the cores that it owns now are in use, so the former ones are kept";
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  node.holdings[1]->settle(4, true);
  EXPECT_EQ(node.cores(1), (Cores{2, 3}));
  node.holdings[0]->give_back_wanted();
  node.holdings[1]->give_back_wanted();
  node.holdings[0]->settle(4, true);
  node.holdings[1]->settle(4, true);
  EXPECT_EQ(node.cores(0), (Cores{2, 3}));
  EXPECT_EQ(node.cores(1), (Cores{0, 1}));
}

TEST(Holding, WhoWakesUpToAPlanKeepsItsCoresWhereTheNewOnesAreStillInUse) {
  Node node(6, 2, {0, 0, 0, 1, 1, 1});
  node.holdings[1]->lend_all(1, kLong);
  node.tables[0]->change_owners({1, 1, 1, 0, 0, 0});
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{3, 4, 5})) << "process 0 still uses all of the cores that it owns now";
  node.holdings[0]->leave_foreign_cores(2);
  EXPECT_TRUE(node.holdings[1]->settle(6, true));
  EXPECT_EQ(node.cores(1), (Cores{0, 1, 2}));
  EXPECT_TRUE(node.holdings[0]->settle(6, true));
  EXPECT_EQ(node.cores(0), (Cores{3, 4, 5}));
}

TEST(Holding, WhatWasLeftBeforeACallIsTakenBackWhereTheNewCoresAreStillInUse) {
  Node node(6, 2, {0, 0, 0, 1, 1, 1});
  node.tables[0]->change_owners({1, 1, 1, 0, 0, 0});
  node.holdings[0]->leave_foreign_cores(1);
  node.holdings[0]->settle(6, true);
  EXPECT_EQ(node.cores(0).size(), 3U) << "process 1 is in a long region, on all of them";
  node.holdings[1]->settle(6, true);
  EXPECT_EQ(node.cores(1).size(), 3U);
  for (const int p : {0, 1}) node.holdings[p]->leave_foreign_cores(2);
  for (const int p : {0, 1}) node.holdings[p]->settle(6, true);
  EXPECT_EQ(node.cores(0), (Cores{3, 4, 5}));
  EXPECT_EQ(node.cores(1), (Cores{0, 1, 2}));
}

TEST(Holding, NoCoreIsBorrowedFromOneWhoseWaitIsOver) {
  Node node(2, 2, {0, 1});
  node.holdings[1]->lend_all(1, kLong);
  node.tables[0]->recall(1);
  EXPECT_FALSE(node.holdings[0]->settle(2, true));
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{1}));
}

TEST(Holding, OfferedCoresAreBorrowedWhileTheirOwnerComputes) {
  Node node(4, 2, {0, 0, 1, 1});
  EXPECT_EQ(node.holdings[1]->offer(2, 1), 1) << "a process keeps one";
  EXPECT_EQ(node.cores(1), (Cores{2}));
  EXPECT_TRUE(node.holdings[0]->settle(4, true, {.lent_after = 5, .until = INT64_MAX}));
  EXPECT_EQ(node.cores(0), (Cores{0, 1, 3}));
  node.holdings[0]->leave_foreign_cores(2);
  EXPECT_EQ(node.holdings[0]->acquire(4, {.until = INT64_MAX}), 1) << "it is offered still";
  EXPECT_EQ(node.holdings[1]->reclaim(), 1);
  EXPECT_EQ(node.holdings[0]->cores_without_wanted(), (Cores{0, 1}));
  EXPECT_EQ(node.cores(0), (Cores{0, 1, 3}));
  node.holdings[0]->return_wanted([](int core) { return core != 3; });
  EXPECT_EQ(node.cores(0), (Cores{0, 1, 3})) << "the program uses it";
  node.holdings[0]->return_wanted([](int) { return true; });
  EXPECT_EQ(node.holdings[0]->acquire(4, {.until = INT64_MAX}), 0);
  node.holdings[1]->take_free_cores();
  EXPECT_EQ(node.cores(1), (Cores{2, 3}));
}

TEST(Holding, OfferedCoresRemainSoWhenTheirOwnerHasWaited) {
  Node node(4, 2, {0, 0, 1, 1});
  node.holdings[1]->offer(1, 1);
  node.holdings[1]->lend_all(2, kLong);
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{2}));
  EXPECT_TRUE(node.holdings[1]->at_rest());
  EXPECT_EQ(node.holdings[0]->acquire(4, {.until = INT64_MAX}), 1);
}

TEST(Holding, ARankThatPollsKeepsItsFirstCoreWhileItLendsTheOthers) {
  Node node(4, 2, {0, 1, 1, 1});
  node.holdings[1]->lend_all(1, kLong, true);
  EXPECT_TRUE(node.holdings[0]->settle(4, true));
  EXPECT_EQ(node.cores(0), (Cores{0, 2, 3}));
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{1})) << "the others are in use until the end of the region";
}

TEST(Holding, BorrowsWhatIsLentUpToItsCeilingAndGivesItBackWhenAsked) {
  Node node(4, 2, {0, 0, 1, 1});
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(node.holdings[0]->settle(4, false)) << "its regions are not worth it";
  EXPECT_TRUE(node.holdings[0]->settle(3, true));
  EXPECT_EQ(node.cores(0), (Cores{0, 1, 2}));
  EXPECT_EQ(node.holdings[0]->borrowed(), 1);
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{3})) << "core 2 is in use until the end of the region";
  node.holdings[0]->give_back_wanted();
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_TRUE(node.holdings[1]->settle(4, true));
  EXPECT_EQ(node.cores(1), (Cores{2, 3}));
}

TEST(Holding, SharesItsFirstCoreIfAllAreInUseByBorrowers) {
  Node node(2, 2, {0, 1});
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(node.holdings[0]->settle(2, true));
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{1}));
  EXPECT_TRUE(node.holdings[1]->shares());
  node.holdings[0]->give_back_wanted();
  node.holdings[1]->settle(2, true);
  EXPECT_FALSE(node.holdings[1]->shares());
  EXPECT_EQ(node.cores(1), (Cores{1}));
  EXPECT_EQ(node.cores(0), (Cores{0}));
}

TEST(Holding, ABorrowedCoreIsLentOnWhileTheBorrowerWaitsToo) {
  Node node(3, 3, {0, 1, 2});
  node.holdings[0]->lend_all(1, kLong);
  node.holdings[1]->settle(3, true);
  EXPECT_EQ(node.cores(1), (Cores{1, 0}));
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(node.holdings[2]->settle(3, true));
  EXPECT_EQ(node.cores(2).size(), 3U);
}

TEST(Holding, ABorrowerReturnsItsCoresBeforeACallByWhichTheirOwnersMayWake) {
  Node node(4, 2, {0, 0, 1, 1});
  node.holdings[1]->lend_all(1, kLong);
  node.holdings[0]->settle(4, true);
  EXPECT_EQ(node.cores(0).size(), 4U);
  node.holdings[0]->leave_foreign_cores(1);
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{2, 3}));
}

TEST(Holding, TakesNoCoreOfOneThatItsOwnCallMayJustHaveWoken) {
  Node node(2, 2, {0, 1});
  node.holdings[1]->lend_all(100, kLong);
  EXPECT_FALSE(node.holdings[0]->settle(2, true, {.lent_after = 100})) << "lent before its own call ended";
  EXPECT_TRUE(node.holdings[0]->settle(2, true, {.lent_after = 99}));
}

TEST(Holding, BorrowsOnlyFromThoseWhoWaitUntilItsRegionHasEnded) {
  Node node(3, 2, {0, 1, 1});
  node.holdings[1]->lend_all(1, {.until = 500});
  EXPECT_FALSE(node.holdings[0]->settle(3, true, {.until = 501}));
  EXPECT_TRUE(node.holdings[0]->settle(3, true, {.until = 500}));
  EXPECT_EQ(node.cores(0).size(), 3U);
  EXPECT_FALSE(node.holdings[0]->settle(3, true, {.until = 500})) << "the next region ends in time, too";
  EXPECT_TRUE(node.holdings[0]->settle(3, true, {.until = 501})) << "the one after that does not";
  EXPECT_EQ(node.cores(0), (Cores{0}));
  node.holdings[1]->expect_wait(600);
  EXPECT_TRUE(node.holdings[0]->settle(3, true, {.until = 600}));
  node.holdings[1]->expect_wait(550);
  EXPECT_FALSE(node.holdings[0]->settle(3, true, {.until = 600})) << "what is expected later only ever adds";
}

TEST(Holding, ItsOwnReceiversLendItTheirCoresForAsLongAsItTakes) {
  Node node(4, 4, {0, 1, 2, 3});
  node.holdings[1]->lend_all(1, {.source = 0, .until = 2});
  node.holdings[2]->lend_all(1, {.source = 1, .until = 2});
  EXPECT_FALSE(node.holdings[3]->settle(4, true, {.until = 2})) << "process 0, for which they wait, would gain nothing";
  EXPECT_TRUE(node.holdings[0]->settle(4, true, {.until = 1000})) << "they cannot go on before it does";
  EXPECT_EQ(node.cores(0), (Cores{0, 1, 2}));
}

TEST(Holding, NothingIsBorrowedFromThoseWhoWaitForEachOther) {
  Node node(3, 3, {0, 1, 2});
  node.holdings[1]->lend_all(1, {.source = 2, .until = INT64_MAX});
  node.holdings[2]->lend_all(1, {.source = 1, .until = INT64_MAX});
  EXPECT_FALSE(node.holdings[0]->settle(3, true, {.until = 1}));
}

TEST(Holding, WhoIsAboutToWakeUpDoesNotWaitLongerAfterAll) {
  Node node(2, 2, {0, 1});
  node.holdings[1]->lend_all(1, {.until = 500});
  node.tables[0]->recall(1);
  node.holdings[1]->expect_wait(INT64_MAX);
  EXPECT_FALSE(node.holdings[0]->settle(2, true));
}

TEST(Holding, APlanThatComesWhileItWaitsIsFollowedOnReturn) {
  Node node(4, 2, {0, 0, 1, 1});
  node.holdings[1]->lend_all(1, kLong);
  node.tables[0]->change_owners({0, 0, 0, 1});
  EXPECT_TRUE(node.holdings[0]->settle(4, false));
  EXPECT_EQ(node.cores(0), (Cores{0, 1, 2}));
  node.holdings[1]->come_back();
  EXPECT_EQ(node.cores(1), (Cores{3}));
}

TEST(Holding, ReturnsBorrowedCoresWhenRegionsBecomeTooShort) {
  Node node(2, 2, {0, 1});
  node.holdings[1]->lend_all(1, kLong);
  node.holdings[0]->settle(2, true);
  EXPECT_TRUE(node.holdings[0]->settle(2, false));
  EXPECT_EQ(node.cores(0), (Cores{0}));
  EXPECT_EQ(node.tables[0]->lent_idle(), 1);
}

// The central rule: no two processes ever use the same core, except for an owner that wakes while all of its cores are
// borrowed. Threads play processes that run regions, wait, give cores to late-join threads, and are
// replanned at random.
TEST(Holding, NoTwoProcessesEverUseOneCore) {
  constexpr int kProcesses = 4, kCores = 8;
  const std::vector<int> cpus = node::affinity_mask().cpus();
  Node node(kCores, kProcesses, {0, 0, 1, 1, 2, 2, 3, 3});
  std::vector<std::atomic<int>> users(kCores);
  std::atomic<bool> stop{false};
  std::atomic<long> violations{0}, regions{0}, borrowed{0}, given{0}, acquired{0};
  std::vector<std::thread> threads;
  for (int p = 0; p < kProcesses; ++p) {
    threads.emplace_back([&, p] {
      std::mt19937 random(static_cast<unsigned>(p));
      const int here = cpus[static_cast<std::size_t>(p) % cpus.size()];
      Holding& holding = *node.holdings[p];
      LateJoin& late_join = *node.late_join[p];
      while (!stop) {
        if (late_join.changed()) holding.find_given();
        holding.settle(kCores, random() % 4 != 0);
        if (random() % 2 == 0) {
          late_join.request(1, {here, here}, 0);
          late_join.place_if_late(1);
          std::this_thread::yield();
        }
        const std::vector<int> cores = holding.cores();
        if (!holding.shares()) {
          for (const int core : cores) violations += users[core].fetch_add(1) != 0;
          for (const int core : cores) users[core].fetch_sub(1);
        }
        borrowed += holding.borrowed();
        ++regions;
        late_join.withdraw();
        late_join.changed();
        given += !holding.find_given().empty();
        holding.give_back_wanted();
        if (random() % 3 == 0) {
          holding.lend_all(1, kLong);
          for (int core = 0; core < kCores; ++core) {
            if (node.tables[p]->is_own(core) && !node.tables[p]->is_offered(core))
              late_join.give(*node.tables[p], core, here, 1);
          }
          std::this_thread::yield();
          holding.come_back();
        }
        if (random() % 4 == 0) {
          holding.offer(1, 1);
          acquired += holding.acquire(1, {.until = INT64_MAX});
          if (random() % 2 == 0) holding.reclaim();
          if (random() % 2 == 0) holding.release(1);
          holding.return_wanted([](int) { return true; });
        }
        if (p == 0 && random() % 16 == 0) {
          std::vector<int> owners(kCores);
          for (int core = 0; core < kCores; ++core)
            owners[core] = core < kProcesses ? core : static_cast<int>(random() % kProcesses);
          node.tables[0]->change_owners(owners);
        }
      }
    });
  }
  for (int i = 0; i < 2000 && regions < 100'000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(violations, 0);
  // In the end each process has all cores that it owns.
  for (int round = 0; round < 3; ++round) {
    for (const auto& holding : node.holdings) {
      holding->find_given();
      holding->give_back_wanted();
      holding->settle(kCores, false);
      holding->reclaim();
    }
  }
  for (const auto& holding : node.holdings)
    EXPECT_EQ(static_cast<int>(holding->cores().size()), holding->owned_count());
  EXPECT_GT(regions, 1000);
  EXPECT_GT(borrowed, 0);
  EXPECT_GT(given, 0);
  EXPECT_GT(acquired, 0);
}

}  // namespace
}  // namespace steelyard::cores
