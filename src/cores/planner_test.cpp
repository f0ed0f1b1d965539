// SPDX-License-Identifier: BSD-3-Clause
#include "cores/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace steelyard::cores {
namespace {

using observe::Outcome;
using testing::StartsWith;

/// Two processes with four cores each, whose ticks this program writes. A step lasts as long as the slower of them.
class Played {
 public:
  Played() : memory_(observe::TickBoard::footprint(2) + 64) {
    void* place = memory_.data();
    std::size_t space = memory_.size();
    std::align(64, observe::TickBoard::footprint(2), place, space);
    for (int p = 0; p < 2; ++p) {
      segments_.push_back(node::Segment::over(place, observe::TickBoard::footprint(2)));
      boards_.push_back(std::make_unique<observe::TickBoard>(*segments_.back(), 2, p));
      processes_[p].thread_ceiling = 8;
    }
  }

  /// `work`: ms on one thread, by process.
  void step(std::vector<int> work) {
    std::vector<std::int64_t> wall;
    for (int p = 0; p < 2; ++p) wall.push_back(std::int64_t{work[p]} * 1'000'000 / threads_[p]);
    const std::int64_t longest = std::max(wall[0], wall[1]);
    time_ += longest;
    for (int p = 0; p < 2; ++p) {
      sums_[p].time = time_;
      sums_[p].region_useful += wall[p] * threads_[p];
      sums_[p].region_wall += wall[p];
      sums_[p].mpi += longest - wall[p];
      sums_[p].threads = threads_[p];
      boards_[p]->publish(observe::TickSource::step, sums_[p]);
    }
    const Plan* plan = planner.consider(*boards_[0], observe::TickSource::step, 1, 0, [this] { return shape(); });
    if (plan != nullptr) threads_ = plan->threads;
  }
  const std::vector<int>& threads() const { return threads_; }
  const observe::DecisionRecord* last(Outcome outcome) const {
    const auto& all = planner.decisions();
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const auto& d) { return d.outcome == outcome; });
    return found == all.rend() ? nullptr : &*found;
  }
  std::string nothing_moved() const {
    observe::NodeRecord node;
    std::vector<observe::DecisionRecord> decisions;
    planner.report(node, decisions, shape());
    return node.nothing_moved;
  }

 private:
  NodeShape shape() const {
    NodeShape now;
    now.capacity = {8};
    now.held = {{threads_[0]}, {threads_[1]}};
    now.budget = 8;
    return now;
  }

  std::vector<unsigned char> memory_;
  std::vector<std::unique_ptr<node::Segment>> segments_;
  std::vector<std::unique_ptr<observe::TickBoard>> boards_;
  node::Process processes_[2] = {};
  std::vector<int> threads_ = {4, 4};
  observe::Tick sums_[2];
  std::int64_t time_ = 0;

 public:
  Planner planner{{}, processes_, 2};
};

/// Until a move is confirmed.
void move(Played& node) {
  for (int i = 0; i < 2000 && node.last(Outcome::confirmed) == nullptr; ++i) node.step({60, 20});
  ASSERT_NE(node.last(Outcome::confirmed), nullptr);
  ASSERT_EQ(node.threads(), (std::vector<int>{6, 2}));
  ASSERT_EQ(node.nothing_moved(), "");
}

TEST(Planner, RecordsThatConfirmedMovesWereReverted) {
  Played node;
  ASSERT_NO_FATAL_FAILURE(move(node));
  // From now on the loads change as soon as a move was made, before it has paid.
  for (int i = 0; i < 2000 && node.threads()[0] != 4; ++i)
    node.step(node.threads()[0] == 6 ? std::vector<int>{20, 60} : std::vector<int>{60, 20});
  ASSERT_EQ(node.threads(), (std::vector<int>{4, 4}));
  ASSERT_NE(node.last(Outcome::undone), nullptr);
  EXPECT_EQ(node.last(Outcome::undone)->what, observe::kRestored);
  EXPECT_THAT(node.last(Outcome::undone)->reason, StartsWith("loads change faster than moves pay off"));
  EXPECT_THAT(node.nothing_moved(), StartsWith("loads change faster than moves pay off"));
}

TEST(Planner, StartsAgainWithTheReason) {
  Played node;
  ASSERT_NO_FATAL_FAILURE(move(node));
  node.planner.start_again(3.5, 1);
  ASSERT_NE(node.last(Outcome::undone), nullptr);
  EXPECT_EQ(node.last(Outcome::undone)->time, 3.5);
  EXPECT_EQ(node.nothing_moved(), "the thread count of rank 1 must not change any more");
}

TEST(Planner, GivesTheReasonOfARevertedMove) {
  Played node;
  // The processes do not scale: they take as long with any thread count.
  for (int i = 0; i < 2000 && node.last(Outcome::undone) == nullptr; ++i)
    node.step({15 * node.threads()[0], 10 * node.threads()[1]});
  ASSERT_EQ(node.threads(), (std::vector<int>{4, 4}));
  EXPECT_THAT(node.nothing_moved(), StartsWith("reverted: the last move gained"));
}

}  // namespace
}  // namespace steelyard::cores
