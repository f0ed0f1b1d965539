// SPDX-License-Identifier: BSD-3-Clause
#include "cores/late_join.h"

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
  bool give(int core = 1) { return node.late_join[1]->give(*node.tables[1], core, allowed.last(), 50); }
  Node node;
  const node::CpuSet allowed;  // CPUs
};

using LateJoinThread = TwoProcesses;

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

TEST_F(LateJoinThread, IsPutOnTheCoreOfHimWhoFallsAsleep) {
  LateJoin& late_join = *node.late_join[0];
  EXPECT_FALSE(late_join.place_if_late(1)) << "nothing was asked for: it binds itself as any other";
  late_join.request(1, {allowed.first()}, 100);
  EXPECT_TRUE(node.late_join[1]->has_requests());
  Worker worker([&] { EXPECT_TRUE(late_join.place_if_late(1)); });
  EXPECT_FALSE(give()) << "the core is in use";
  EXPECT_FALSE(late_join.changed());
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(give());
  EXPECT_EQ(worker.mask(), node::CpuSet{allowed.last()});
  EXPECT_TRUE(late_join.changed());
  EXPECT_FALSE(late_join.changed()) << "told once";
  EXPECT_EQ(node.holdings[0]->find_given(), (Cores{1}));
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_EQ(node.tables[1]->lent_idle(), 0);
}

TEST_F(LateJoinThread, IsBoundBeforeItWakesUpWhereItIsKnown) {
  LateJoin& late_join = *node.late_join[0];
  Worker worker([&] { late_join.note_thread(1); });
  late_join.request(1, {allowed.first()}, 100);
  EXPECT_EQ(worker.mask(), node::CpuSet{allowed.first()});
}

TEST_F(LateJoinThread, OneThatWasTakenForAnotherBindsItselfAndIsKnownThen) {
  LateJoin& late_join = *node.late_join[0];
  Worker stranger([&] { late_join.note_thread(1); });
  late_join.request(1, {allowed.first()}, 100);
  Worker worker([&] { EXPECT_TRUE(late_join.place_if_late(1)); });
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(give());
  EXPECT_EQ(worker.mask(), node::CpuSet{allowed.last()});
  stranger.mask();
}

TEST_F(LateJoinThread, GetsNothingAfterItsRegion) {
  LateJoin& late_join = *node.late_join[0];
  late_join.request(1, {allowed.first()}, 100);
  late_join.place_if_late(1);
  late_join.withdraw();
  EXPECT_FALSE(node.late_join[1]->has_requests());
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(give());
  EXPECT_EQ(node.tables[1]->lent_idle(), 1);
  EXPECT_FALSE(late_join.place_if_late(1));
}

TEST_F(LateJoinThread, GetsNoCoreThatIsWantedBackBeforeItsRegionEnds) {
  node.late_join[0]->request(1, {allowed.first()}, 100);
  node.late_join[0]->place_if_late(1);
  node.holdings[1]->lend_all(1, {.until = 99});
  EXPECT_FALSE(give());
  node.holdings[1]->expect_wait(100);
  EXPECT_TRUE(give());
}

TEST_F(LateJoinThread, OnlyAsManyCoresAsThreadsAreTaken) {
  Node three(3, 2, {0, 1, 1});
  three.late_join[0]->request(1, {allowed.first()}, 100);
  three.late_join[0]->place_if_late(1);
  three.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(three.late_join[1]->give(*three.tables[1], 1, allowed.first(), 50));
  EXPECT_FALSE(three.late_join[1]->give(*three.tables[1], 2, allowed.first(), 50));
}

TEST_F(LateJoinThread, ItsCoreGoesBackToItsOwnerAsAnyOther) {
  node.late_join[0]->request(1, {allowed.first()}, 100);
  node.late_join[0]->place_if_late(1);
  node.holdings[1]->lend_all(1, kLong);
  ASSERT_TRUE(give());
  node.holdings[1]->come_back();
  EXPECT_TRUE(node.holdings[1]->shares()) << "until the region ends";
  node.late_join[0]->withdraw();
  node.holdings[0]->find_given();
  node.holdings[0]->give_back_wanted();
  EXPECT_EQ(node.cores(0), (Cores{0}));
  node.holdings[1]->settle(2, true);
  EXPECT_FALSE(node.holdings[1]->shares());
}

TEST_F(LateJoinThread, TwoWhoLendPutTwoOfThemOnTheirCores) {
  Node three(3, 3, {0, 1, 2});
  three.late_join[0]->request(1, {allowed.first(), allowed.first()}, 100);
  Worker first([&] { three.late_join[0]->place_if_late(1); }), second([&] { three.late_join[0]->place_if_late(2); });
  for (const int lender : {1, 2}) {
    three.holdings[lender]->lend_all(1, kLong);
    EXPECT_TRUE(three.late_join[lender]->give(*three.tables[lender], lender, allowed.last(), 50));
  }
  EXPECT_EQ(first.mask(), node::CpuSet{allowed.last()});
  EXPECT_EQ(second.mask(), node::CpuSet{allowed.last()});
  EXPECT_EQ(three.holdings[0]->find_given(), (Cores{1, 2}));
}

// Between the question whether the core is lent and the attempt to take it.
TEST_F(LateJoinThread, ABorrowerThatWasFasterIsNotAskedToReturnTheCore) {
  Node three(3, 3, {0, 1, 2});
  three.holdings[1]->lend_all(1, kLong);
  three.holdings[2]->settle(2, true);
  ASSERT_TRUE(three.tables[2]->uses(1));
  EXPECT_FALSE(three.tables[1]->retake_lent(1));
  EXPECT_FALSE(three.tables[1]->is_wanted(1));
  EXPECT_FALSE(three.tables[2]->asked_back());
  three.holdings[2]->release(2);
  EXPECT_EQ(three.tables[0]->lent_idle(), 1) << "lent on";
  EXPECT_TRUE(three.tables[1]->retake_lent(1));
  EXPECT_EQ(three.tables[0]->lent_idle(), 0);
  EXPECT_FALSE(three.tables[1]->retake_lent(1)) << "in use";
}

// Once bound, the thread may keep the lender off the core until the region ends: then it is too late to pass the core.
TEST_F(LateJoinThread, TheCoreIsPassedBeforeTheThreadIsBound) {
  node.late_join[0]->request(1, {allowed.first()}, 100);
  node.late_join[0]->place_if_late(1);
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(node.late_join[1]->give(*node.tables[1], 1, -1, 50)) << "there is no such CPU";
  EXPECT_EQ(node.tables[1]->lent_idle(), 0);
  node.late_join[0]->withdraw();
  EXPECT_TRUE(node.late_join[0]->changed());
  EXPECT_EQ(node.holdings[0]->find_given(), (Cores{1}));
  EXPECT_FALSE(node.tables[1]->take_own(1)) << "asked for";
  node.holdings[0]->give_back_wanted();
  EXPECT_TRUE(node.tables[1]->take_own(1));
}

TEST_F(LateJoinThread, OneThatHasEndedIsNotBound) {
  Worker(([&] { node.late_join[0]->note_thread(1); })).mask();
  node.late_join[0]->request(1, {allowed.first()}, 100);
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(give());
  EXPECT_EQ(node.tables[1]->lent_idle(), 1) << "no thread is left to pass it to";
}

TEST_F(LateJoinThread, ACoreThatThisProcessComesToOwnIsFound) {
  node.late_join[0]->request(1, {allowed.first()}, 100);
  node.late_join[0]->place_if_late(1);
  node.holdings[1]->lend_all(1, kLong);
  ASSERT_TRUE(give());
  node.tables[0]->change_owners({0, 0});
  node.late_join[0]->withdraw();
  node.holdings[0]->find_given();
  node.tables[0]->change_owners({0, 1});
  node.holdings[0]->leave_foreign_cores(60);
  node.holdings[1]->come_back();
  node.holdings[0]->give_back_wanted();
  node.holdings[0]->settle(2, false);
  node.holdings[1]->settle(2, false);
  EXPECT_EQ(node.cores(0), (Cores{0}));
  EXPECT_EQ(node.cores(1), (Cores{1}));
}

LateJoinRegions::Execution plain(int came, std::int64_t wall = 100) {
  return {.came = came, .late_join = false, .held = 1, .wall = wall};
}
LateJoinRegions::Execution joined(int came, std::int64_t wall = 80) {
  return {.came = came, .late_join = true, .held = 1, .wall = wall};
}

TEST(LateJoinRegions, AreBelievedAfterTwoAndDoubtedAfterOne) {
  LateJoinRegions regions{decide::Settings()};
  regions.learn(7, plain(3));
  EXPECT_EQ(regions.likely(7, 1), 0) << "once may be an accident";
  regions.learn(7, plain(3));
  EXPECT_EQ(regions.likely(7, 1), 3);
  EXPECT_EQ(regions.likely(8, 1), 0);
  regions.learn(7, joined(0));
  EXPECT_EQ(regions.likely(7, 1), 0);
  regions.learn(7, plain(1));
  regions.learn(7, plain(1));
  EXPECT_EQ(regions.likely(7, 1), 1);
  // Executions without late-join threads are compared with these meanwhile.
  for (int i = 0; i < 200; ++i) regions.learn(7, regions.likely(7, 1) > 0 ? joined(1) : plain(1));
  regions.learn(7, joined(0));
  EXPECT_EQ(regions.likely(7, 1), 1) << "one that was right for long may be wrong once";
  regions.learn(7, joined(0));
  EXPECT_EQ(regions.likely(7, 1), 0);
}

/// How many of 1000 executions have late-join threads, if these take as long as that.
int with_late_join_threads(std::int64_t wall, std::int64_t once_in_a_while = 0, decide::Settings settings = {}) {
  LateJoinRegions regions{settings};
  int count = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool with = regions.likely(7, 1) > 0;
    count += with ? 1 : 0;
    regions.learn(7, with ? joined(1, once_in_a_while > 0 && i % 100 == 50 ? once_in_a_while : wall) : plain(1));
  }
  return count;
}

TEST(LateJoinRegions, ThatAreNotShorterForItDoWithout) {
  EXPECT_LT(with_late_join_threads(100), 50);
  EXPECT_LT(with_late_join_threads(150), 30);
}

TEST(LateJoinRegions, ThatAreShorterForItKeepIt) {
  EXPECT_GT(with_late_join_threads(80), 950);
  EXPECT_GT(with_late_join_threads(80, 1000), 900) << "though one in a hundred takes ten times as long";
}

TEST(LateJoinRegions, DoNotSearchForGainsBelowTheExplorationBudget) {
  EXPECT_LT(with_late_join_threads(100, 0, {.exploration = 0.4}), 50);
  EXPECT_GT(with_late_join_threads(100, 0, {.exploration = 0}), 200);
}

TEST(LateJoinRegions, ExecutionsWithOtherNumbersOfCoresAreNotCompared) {
  LateJoinRegions regions{decide::Settings()};
  int with = 0;
  constexpr int kExecutions = 400;
  for (int i = 0; i < kExecutions; ++i) {
    const int held = 1 + i % 2;
    const bool late_join = regions.likely(7, held) > 0;
    with += late_join;
    // With one core, late-join threads do harm; with two, they help.
    const std::int64_t wall = held == 1 ? (late_join ? 120 : 100) : (late_join ? 500 : 600);
    regions.learn(7, {.came = 2, .late_join = late_join, .held = held, .wall = wall});
  }
  EXPECT_EQ(regions.likely(7, 1), 0);
  EXPECT_EQ(regions.likely(7, 2), 2);
  EXPECT_GT(with, kExecutions / 2 - 20);
  EXPECT_LT(with, kExecutions / 2 + 20);
}

TEST(LateJoinRegions, AreNotComparedWithExecutionsFromLongAgo) {
  LateJoinRegions regions{decide::Settings()};
  int with = 0;
  const auto execute = [&](int executions, std::int64_t without, std::int64_t wall) {
    for (int i = 0; i < executions; ++i) {
      const bool late_join = regions.likely(7, 1) > 0;
      with += late_join;
      regions.learn(7, late_join ? joined(1, wall) : plain(1, without));
    }
  };
  while (with == 0) execute(1, 100, 120);
  for (int i = 0; i < 1000; ++i) regions.learn(7, plain(1, 400));  // late-join threads are not possible
  with = 0;
  execute(100, 400, 320);
  EXPECT_GT(with, 50);
}

}  // namespace
}  // namespace steelyard::cores
