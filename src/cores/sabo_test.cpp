// SPDX-License-Identifier: BSD-3-Clause
#include "cores/sabo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::cores {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Ranks with perfect scaling, which hold the cores of their sockets one after the other.
class Node {
 public:
  Node(std::vector<int> threads, std::vector<int> capacity) : threads_(std::move(threads)) {
    shape_.capacity = std::move(capacity);
    std::size_t socket = 0;
    int room = shape_.capacity[0];
    for (const int count : threads_) {
      shape_.held.emplace_back(shape_.capacity.size(), 0);
      shape_.budget += count;
      if (room < count) room = shape_.capacity[++socket];
      shape_.held.back()[socket] = count;
      room -= count;
    }
  }
  /// A window in which each rank has `work` thread seconds in each step.
  Window window(const std::vector<double>& work, int steps = 1) const {
    Window window;
    window.steps = steps;
    for (std::size_t p = 0; p < work.size(); ++p) {
      ProcessLoad load;
      load.threads = threads_[p];
      load.parallel = work[p] * steps;
      load.region_wall = load.parallel / load.threads;
      window.elapsed = std::max(window.elapsed, load.region_wall);
      window.loads.push_back(load);
    }
    return window;
  }
  const NodeShape& shape() const { return shape_; }
  void obey(const Plan& plan) {
    threads_ = plan.threads;
    for (std::size_t p = 0; p < threads_.size(); ++p) {
      shape_.held[p].assign(shape_.capacity.size(), 0);
      shape_.held[p][static_cast<std::size_t>(plan.domain[p])] = threads_[p];
    }
  }

 private:
  std::vector<int> threads_;
  NodeShape shape_;
};

TEST(MapToSockets, FindsTheMappingOfThePapersFigure1) {
  const SocketMapping mapping = map_to_sockets({14, 13, 12, 9}, {24, 24});
  EXPECT_THAT(mapping.socket, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(mapping.threads, ElementsAre(14, 13, 11, 9));
  EXPECT_EQ(mapping.missing, 1);
  EXPECT_TRUE(mapping.exact);
}

TEST(MapToSockets, SaysWhenItsSearchIsCutShort) {
  const std::vector<int> wanted(64, 3);
  const SocketMapping mapping = map_to_sockets(wanted, std::vector<int>(16, 10));
  EXPECT_FALSE(mapping.exact) << "32 cores are missing in each mapping, so no branch is left out";
  EXPECT_EQ(mapping.socket.size(), wanted.size());
}

TEST(Sabo, GivesEachRankItsShareOnOneSocket) {
  const Node node({12, 12, 12, 12}, {24, 24});
  const Verdict verdict = Sabo(0, 0).consider(node.window({14, 9, 13, 12}), node.shape());
  ASSERT_EQ(verdict.action, Action::apply) << verdict.reason;
  EXPECT_THAT(verdict.plan.threads, ElementsAre(14, 9, 13, 11));
  EXPECT_THAT(verdict.plan.domain, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(verdict.plan.moved, 3);
}

TEST(Sabo, MovesNothingIfARankWouldBecomeAsSlowAsTheSlowest) {
  const Node node({3, 3}, {6});
  const Verdict verdict = Sabo(0, 0).consider(node.window({7.2, 4.8}), node.shape());
  EXPECT_EQ(verdict.action, Action::none);
  EXPECT_THAT(verdict.reason, StartsWith("SABO's rule: rank 1 of the node would compute 2.4 s per step"));
}

TEST(Sabo, MovesNothingBetweenEqualRanks) {
  const Node node({3, 3}, {6});
  const Verdict verdict = Sabo(0, 0).consider(node.window({5, 5.1}), node.shape());
  EXPECT_EQ(verdict.action, Action::none);
  EXPECT_THAT(verdict.reason, HasSubstr("each rank has its share"));
}

TEST(Sabo, KeepsFixedCountsAndUpperLimits) {
  const Node node({4, 4, 4}, {12});
  Window window = node.window({16, 4, 4});
  window.loads[1].fixed = true;
  window.loads[0].ceiling = 6;
  const Verdict verdict = Sabo(0, 0).consider(window, node.shape());
  ASSERT_EQ(verdict.action, Action::apply) << verdict.reason;
  EXPECT_EQ(verdict.plan.threads[1], 4);
  EXPECT_EQ(verdict.plan.threads[0], 6);
}

TEST(Sabo, PassesOverASocketWithoutFreeCores) {
  const Node node({4, 2, 2}, {4, 4});
  Window window = node.window({4, 6, 2});
  window.loads[0].fixed = true;
  const Verdict verdict = Sabo(0, 0).consider(window, node.shape());
  ASSERT_EQ(verdict.action, Action::apply) << verdict.reason;
  EXPECT_THAT(verdict.plan.threads, ElementsAre(4, 3, 1));
  EXPECT_THAT(verdict.plan.domain, ElementsAre(0, 1, 1));
}

TEST(Sabo, RepeatsWhyItsOnlyPlanMovedNothing) {
  const Node node({3, 3}, {6});
  Sabo sabo(0, 1);
  const std::string reason = sabo.consider(node.window({5, 5.1}), node.shape()).reason;
  EXPECT_THAT(reason, HasSubstr("each rank has its share"));
  EXPECT_EQ(sabo.consider(node.window({5, 5.1}), node.shape()).reason, reason);
}

TEST(Sabo, PlansOnceAtTheStepThatTheUserNames) {
  Node node({4, 4}, {8});
  Sabo sabo(0, 3);
  EXPECT_EQ(sabo.steps_wanted(), 3);
  EXPECT_EQ(sabo.consider(node.window({24, 8}, 2), node.shape()).reason, "next plan at step 3");
  const Verdict verdict = sabo.consider(node.window({24, 8}), node.shape());
  ASSERT_EQ(verdict.action, Action::apply);
  EXPECT_THAT(verdict.plan.threads, ElementsAre(6, 2));
  node.obey(verdict.plan);
  for (int step = 0; step < 5; ++step) {
    const Verdict later = sabo.consider(node.window({8, 24}), node.shape());
    EXPECT_EQ(later.action, Action::none);
    EXPECT_EQ(later.undecided, step == 0) << "no move is measured";
    EXPECT_EQ(later.reason, "planned once (--balance-at)");
  }
}

TEST(Sabo, PlansFromAllStepsSinceTheLastPlan) {
  Node node({4, 4}, {8});
  Sabo sabo(4, 0);
  EXPECT_EQ(sabo.consider(node.window({40, 8}, 3), node.shape()).action, Action::none);
  const Verdict verdict = sabo.consider(node.window({8, 40}), node.shape());
  ASSERT_EQ(verdict.action, Action::apply);
  EXPECT_THAT(verdict.plan.threads, ElementsAre(5, 3)) << "128 and 64 thread seconds";
  node.obey(verdict.plan);
  EXPECT_EQ(sabo.steps_wanted(), 4);
  const Verdict back = sabo.consider(node.window({8, 40}, 4), node.shape());
  ASSERT_EQ(back.action, Action::apply) << back.reason;
  EXPECT_THAT(back.plan.threads, ElementsAre(1, 7));
}

}  // namespace
}  // namespace steelyard::cores
