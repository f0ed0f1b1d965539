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
  bool give() { return node.early[1]->give(*node.tables[1], 1, allowed.back()); }
  Node node;
  std::vector<int> allowed;  // CPUs
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
  std::vector<int> mask() {
    end_.set_value();
    thread_.join();
    return mask_;
  }

 private:
  std::promise<void> come_, end_;
  std::vector<int> mask_;
  std::thread thread_;
};

TEST_F(EarlyThread, IsPutOnTheCoreOfHimWhoFallsAsleep) {
  EarlyThreads& early = *node.early[0];
  EXPECT_FALSE(early.has_come(1, allowed)) << "nothing was asked for: it binds itself as any other";
  early.ask(1, 1, allowed, 100);
  EXPECT_TRUE(node.early[1]->anybody_asks());
  Worker worker([&] { EXPECT_TRUE(early.has_come(1, allowed)); });
  EXPECT_FALSE(give()) << "the core is in use";
  EXPECT_FALSE(early.given());
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(give());
  EXPECT_EQ(worker.mask(), (std::vector<int>{allowed.back()}));
  EXPECT_TRUE(early.given());
  EXPECT_FALSE(early.given()) << "told once";
  EXPECT_EQ(node.holdings[0]->find_given(), (Cores{1}));
  EXPECT_EQ(node.cores(0), (Cores{0, 1}));
  EXPECT_EQ(node.tables[1]->lent_idle(), 0);
}

TEST_F(EarlyThread, IsBoundBeforeItWakesUpWhereItIsKnown) {
  EarlyThreads& early = *node.early[0];
  Worker worker([&] { early.meet(1); });
  early.ask(1, 1, {allowed.front()}, 100);
  EXPECT_EQ(worker.mask(), (std::vector<int>{allowed.front()}));
}

TEST_F(EarlyThread, OneThatWasTakenForAnotherBindsItselfAndIsKnownThen) {
  EarlyThreads& early = *node.early[0];
  Worker stranger([&] { early.meet(1); });
  early.ask(1, 1, allowed, 100);
  Worker worker([&] { EXPECT_TRUE(early.has_come(1, {allowed.front()})); });
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(give());
  EXPECT_EQ(worker.mask(), (std::vector<int>{allowed.back()}));
  stranger.mask();
}

TEST_F(EarlyThread, GetsNothingAfterItsRegion) {
  EarlyThreads& early = *node.early[0];
  early.ask(1, 1, allowed, 100);
  early.has_come(1, allowed);
  early.withdraw();
  EXPECT_FALSE(node.early[1]->anybody_asks());
  node.holdings[1]->lend_all(1, kLong);
  EXPECT_FALSE(give());
  EXPECT_EQ(node.tables[1]->lent_idle(), 1);
  EXPECT_FALSE(early.has_come(1, allowed));
}

TEST_F(EarlyThread, GetsNoCoreThatIsWantedBackBeforeItsRegionEnds) {
  node.early[0]->ask(1, 1, allowed, 100);
  node.early[0]->has_come(1, allowed);
  node.holdings[1]->lend_all(1, {.until = 99});
  EXPECT_FALSE(give());
  node.holdings[1]->expect_wait(100);
  EXPECT_TRUE(give());
}

TEST_F(EarlyThread, OnlyAsManyCoresAsThreadsAreTaken) {
  Node three(3, 2, {0, 1, 1});
  three.early[0]->ask(1, 1, allowed, 100);
  three.early[0]->has_come(1, allowed);
  three.holdings[1]->lend_all(1, kLong);
  EXPECT_TRUE(three.early[1]->give(*three.tables[1], 1, allowed.front()));
  EXPECT_FALSE(three.early[1]->give(*three.tables[1], 2, allowed.front()));
}

TEST_F(EarlyThread, ItsCoreGoesHomeAsAnyOther) {
  node.early[0]->ask(1, 1, allowed, 100);
  node.early[0]->has_come(1, allowed);
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

TEST(EarlyRegions, AreBelievedAfterTwoAndDoubtedAfterOne) {
  EarlyRegions regions;
  regions.learn(7, 3);
  EXPECT_EQ(regions.likely(7), 0) << "once may be an accident";
  regions.learn(7, 3);
  EXPECT_EQ(regions.likely(7), 3);
  EXPECT_EQ(regions.likely(8), 0);
  regions.learn(7, 0);
  EXPECT_EQ(regions.likely(7), 0);
  regions.learn(7, 1);
  regions.learn(7, 1);
  EXPECT_EQ(regions.likely(7), 1);
  for (int i = 0; i < 10; ++i) regions.learn(7, 1);
  regions.learn(7, 0);
  EXPECT_EQ(regions.likely(7), 1) << "one that was right for long may be wrong once";
  regions.learn(7, 0);
  EXPECT_EQ(regions.likely(7), 0);
}

}  // namespace
}  // namespace steelyard::cores
