// SPDX-License-Identifier: BSD-3-Clause
#include "cores/early_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "cores/played_node.h"
#include "node/binding.h"

namespace steelyard::cores {
namespace {

/// Process 0 has core 0 and runs a region of two threads, process 1 has core 1 and waits.
struct TwoProcesses : testing::Test {
  TwoProcesses() : node(2, 2, {0, 1}), allowed(node::affinity_mask()) {}
  ~TwoProcesses() override { node::bind_this_thread(allowed); }
  bool give(int core = 1) { return node.early[1]->give(*node.tables[1], core, allowed.last(), 50); }
  Node node;
  const node::CpuSet allowed;  // CPUs
};

using EarlyThread = TwoProcesses;

/// A thread that comes to a region, and tells where it may run when it is asked.
class Worker {
 public:
  template <class Begin>
  explicit Worker(Begin begin)
      : thread_([this, begin] {
          begin();
          come_.set_value();
          end_.get_future().wait();
          mask_ = node::affinity_mask();
        }) {
    come_.get_future().wait();
  }
  node::CpuSet mask() {
    end_.set_value();
    thread_.join();
    return mask_;
  }

 private:
  std::promise<void> come_, end_;
  node::CpuSet mask_;
  std::thread thread_;
};

TEST_F(EarlyThread, IsPutOnTheCoreOfHimWhoFallsAsleep) {
  EarlyThreads& early = *node.early[0];
  EXPECT_FALSE(early.has_come(1)) << "nothing was asked for: it binds itself as any other";
  early.ask(1, {allowed.first()}, 100);
  EXPECT_TRUE(node.early[1]->anybody_asks());
  Worker worker([&] { EXPECT_TRUE(early.has_come(1)); });
  EXPECT_FALSE(give()) << "the core is in use";
  EXPECT_FALSE(early.changed());
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(give());
  EXPECT_EQ(worker.mask(), node::CpuSet{allowed.last()});
  EXPECT_TRUE(early.changed());
  EXPECT_FALSE(early.changed()) << "told once";
  EXPECT_EQ(node.holdings[0]->find_given(), (Cores{1}));
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_EQ(node.tables[1]->lent_idle(), 0);
}

TEST_F(EarlyThread, IsBoundBeforeItWakesUpWhereItIsKnown) {
  EarlyThreads& early = *node.early[0];
  Worker worker([&] { early.meet(1); });
  early.ask(1, {allowed.first()}, 100);
  EXPECT_EQ(worker.mask(), node::CpuSet{allowed.first()});
}

TEST_F(EarlyThread, OneThatWasTakenForAnotherBindsItselfAndIsKnownThen) {
  EarlyThreads& early = *node.early[0];
  Worker stranger([&] { early.meet(1); });
  early.ask(1, {allowed.first()}, 100);
  Worker worker([&] { EXPECT_TRUE(early.has_come(1)); });
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(give());
  EXPECT_EQ(worker.mask(), node::CpuSet{allowed.last()});
  stranger.mask();
}

TEST_F(EarlyThread, GetsNothingAfterItsRegion) {
  EarlyThreads& early = *node.early[0];
  early.ask(1, {allowed.first()}, 100);
  early.has_come(1);
  early.withdraw();
  EXPECT_FALSE(node.early[1]->anybody_asks());
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(give());
  EXPECT_EQ(node.tables[1]->lent_idle(), 1);
  EXPECT_FALSE(early.has_come(1));
}

TEST_F(EarlyThread, GetsNoCoreThatIsWantedBackBeforeItsRegionEnds) {
  node.early[0]->ask(1, {allowed.first()}, 100);
  node.early[0]->has_come(1);
  node.holdings[1]->lend_all(1, {.until = 99});
  EXPECT_FALSE(give());
  node.holdings[1]->expect_wait(100);
  EXPECT_TRUE(give());
}

TEST_F(EarlyThread, OnlyAsManyCoresAsThreadsAreTaken) {
  Node three(3, 2, {0, 1, 1});
  three.early[0]->ask(1, {allowed.first()}, 100);
  three.early[0]->has_come(1);
  three.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(three.early[1]->give(*three.tables[1], 1, allowed.first(), 50));
  EXPECT_FALSE(three.early[1]->give(*three.tables[1], 2, allowed.first(), 50));
}

TEST_F(EarlyThread, ItsCoreGoesHomeAsAnyOther) {
  node.early[0]->ask(1, {allowed.first()}, 100);
  node.early[0]->has_come(1);
  node.holdings[1]->lend_all(1, kLong);
  ASSERT_TRUE(give());
  node.holdings[1]->come_back();
  EXPECT_TRUE(node.holdings[1]->shares()) << "until the region ends";
  node.early[0]->withdraw();
  node.holdings[0]->find_given();
  node.holdings[0]->give_back_wanted();
  EXPECT_EQ(node.cores(0), (Cores{0}));
  node.holdings[1]->settle(2, true);
  EXPECT_FALSE(node.holdings[1]->shares());
}

TEST_F(EarlyThread, TwoWhoLendPutTwoOfThemOnTheirCores) {
  Node three(3, 3, {0, 1, 2});
  three.early[0]->ask(1, {allowed.first(), allowed.first()}, 100);
  Worker first([&] { three.early[0]->has_come(1); }), second([&] { three.early[0]->has_come(2); });
  for (const int lender : {1, 2}) {
    three.holdings[lender]->lend_all(1, kLong);
    EXPECT_TRUE(three.early[lender]->give(*three.tables[lender], lender, allowed.last(), 50));
  }
  EXPECT_EQ(first.mask(), node::CpuSet{allowed.last()});
  EXPECT_EQ(second.mask(), node::CpuSet{allowed.last()});
  EXPECT_EQ(three.holdings[0]->find_given(), (Cores{1, 2}));
}

TEST_F(EarlyThread, ACoreOnWhichNobodyCanBePutStaysLent) {
  node.early[0]->ask(1, {allowed.first()}, 100);
  node.early[0]->has_come(1);
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(node.early[1]->give(*node.tables[1], 1, -1, 50)) << "there is no such CPU";
  EXPECT_EQ(node.tables[1]->lent_idle(), 1);
  EXPECT_TRUE(node.holdings[0]->find_given().empty());
}

TEST_F(EarlyThread, OneThatHasEndedIsNotBound) {
  Worker(([&] { node.early[0]->meet(1); })).mask();
  node.early[0]->ask(1, {allowed.first()}, 100);
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(give());
}

TEST_F(EarlyThread, ACoreThatBecomesAHomeMeanwhileIsFound) {
  node.early[0]->ask(1, {allowed.first()}, 100);
  node.early[0]->has_come(1);
  node.holdings[1]->lend_all(1, kLong);
  ASSERT_TRUE(give());
  node.tables[0]->rehome({0, 0});
  node.early[0]->withdraw();
  node.holdings[0]->find_given();
  node.tables[0]->rehome({0, 1});
  node.holdings[0]->leave_what_is_not_home(60);
  node.holdings[1]->come_back();
  node.holdings[0]->give_back_wanted();
  node.holdings[0]->settle(2, false);
  node.holdings[1]->settle(2, false);
  EXPECT_EQ(node.cores(0), (Cores{0}));
  EXPECT_EQ(node.cores(1), (Cores{1}));
}

EarlyRegions::Execution plain(int came, std::int64_t wall = 100) {
  return {.came = came, .early = false, .held = 1, .wall = wall};
}
EarlyRegions::Execution early(int came, std::int64_t wall = 80) {
  return {.came = came, .early = true, .held = 1, .wall = wall};
}

TEST(EarlyRegions, AreBelievedAfterTwoAndDoubtedAfterOne) {
  EarlyRegions regions;
  regions.learn(7, plain(3));
  EXPECT_EQ(regions.likely(7), 0) << "once may be an accident";
  regions.learn(7, plain(3));
  EXPECT_EQ(regions.likely(7), 3);
  EXPECT_EQ(regions.likely(8), 0);
  regions.learn(7, early(0));
  EXPECT_EQ(regions.likely(7), 0);
  regions.learn(7, plain(1));
  regions.learn(7, plain(1));
  EXPECT_EQ(regions.likely(7), 1);
  // Executions without early threads are compared with these meanwhile.
  for (int i = 0; i < 200; ++i) regions.learn(7, regions.likely(7) > 0 ? early(1) : plain(1));
  regions.learn(7, early(0));
  EXPECT_EQ(regions.likely(7), 1) << "one that was right for long may be wrong once";
  regions.learn(7, early(0));
  EXPECT_EQ(regions.likely(7), 0);
}

/// How many of 1000 executions have early threads, if these take as long as that.
int with_early_threads(std::int64_t wall, std::int64_t once_in_a_while = 0) {
  EarlyRegions regions;
  int count = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool with = regions.likely(7) > 0;
    count += with ? 1 : 0;
    regions.learn(7, with ? early(1, once_in_a_while > 0 && i % 100 == 50 ? once_in_a_while : wall) : plain(1));
  }
  return count;
}

TEST(EarlyRegions, ThatAreNotShorterForItDoWithout) {
  EXPECT_LT(with_early_threads(100), 50);
  EXPECT_LT(with_early_threads(150), 30);
}

TEST(EarlyRegions, ThatAreShorterForItKeepIt) {
  EXPECT_GT(with_early_threads(80), 950);
  EXPECT_GT(with_early_threads(80, 1000), 900) << "though one in a hundred takes ten times as long";
}

TEST(EarlyRegions, ExecutionsWithOtherNumbersOfCoresAreNotCompared) {
  EarlyRegions regions;
  for (int i = 0; i < 3; ++i) regions.learn(7, plain(2));
  for (int i = 0; i < 20; ++i) {
    const bool with = regions.likely(7) > 0;
    regions.learn(7, {.came = 2, .early = with, .held = 2, .wall = with ? 500 : 600});
  }
  EXPECT_EQ(regions.likely(7), 2) << "500 is less than 600, though more than 100";
}

}  // namespace
}  // namespace steelyard::cores
