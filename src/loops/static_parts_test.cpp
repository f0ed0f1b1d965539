// SPDX-License-Identifier: BSD-3-Clause
#include "loops/static_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace steelyard::loops {
namespace {

/// Executes loops whose cost at each place is known, and returns the time of the slowest thread, in ns.
class Loops {
 public:
  using Cost = std::function<double(double)>;
  Loops(int threads, Cost cost, double noise = 0) : parts(threads, {}), cost_(std::move(cost)), noise_(1, noise) {}
  double execute() {
    std::vector<double> ns;
    const std::vector<double> boundaries = parts.boundaries();
    for (std::size_t t = 0; t + 1 < boundaries.size(); ++t) {
      constexpr int kSteps = 200;
      double sum = 0;
      const double width = (boundaries[t + 1] - boundaries[t]) / kSteps;
      for (int i = 0; i < kSteps; ++i) sum += cost_(boundaries[t] + (i + 0.5) * width) * width;
      ns.push_back(1e6 * sum * noise_(random_));
    }
    const double slowest = *std::ranges::max_element(ns);
    parts.executed(ns, slowest);
    return slowest;
  }
  double execute(int times) {
    double last = 0;
    for (int i = 0; i < times; ++i) last = execute();
    return last;
  }
  StaticParts parts;
  Cost cost_;

 private:
  std::mt19937 random_{7};
  std::normal_distribution<> noise_;
};

double triangle(double place) { return 2 * place; }
double even(double) { return 1; }

TEST(StaticParts, BeginEvenAndStayEvenIfTheLoadIsEven) {
  Loops loops(4, even, 0.005);
  EXPECT_TRUE(loops.parts.decided_even());
  loops.execute(200);
  EXPECT_TRUE(loops.parts.decided_even());
  EXPECT_EQ(loops.parts.gain(), 0);
}

TEST(StaticParts, ATriangleIsBalanced) {
  for (const int threads : {2, 3, 7, 48}) {
    Loops loops(threads, triangle, 0.002);
    const double mean = 1e6 / threads;
    EXPECT_GT(loops.execute(), 1.4 * mean);
    EXPECT_LT(loops.execute(200), 1.05 * mean) << threads << " threads";
    EXPECT_GT(loops.parts.gain(), 0.25);
  }
}

TEST(StaticParts, BoundariesAreAlwaysThoseOfALoop) {
  std::mt19937 random(3);
  std::exponential_distribution<> cost(1);
  for (int round = 0; round < 50; ++round) {
    StaticParts parts(5, {});
    for (int i = 0; i < 60; ++i) {
      const std::vector<double>& boundaries = parts.boundaries();
      ASSERT_EQ(boundaries.size(), 6U);
      EXPECT_EQ(boundaries.front(), 0);
      EXPECT_EQ(boundaries.back(), 1);
      EXPECT_TRUE(std::ranges::is_sorted(boundaries));
      std::vector<double> ns;
      for (int t = 0; t < 5; ++t) ns.push_back(cost(random));
      parts.executed(ns, *std::ranges::max_element(ns));
    }
  }
}

TEST(StaticParts, PartsThatAreNotFasterAreReverted) {
  // The first thread is slow whatever its part: another process uses its core.
  StaticParts parts(2, {});
  int others = 0;
  for (int i = 0; i < 400; ++i) {
    others += parts.trying() ? 1 : 0;
    parts.executed(std::vector<double>{2e6, 1e6}, 2e6);
  }
  EXPECT_GT(others, 0) << "other parts were tried";
  EXPECT_LT(others, 60) << "and rarely tried again";
  EXPECT_TRUE(parts.decided_even());
}

TEST(StaticParts, AGainBelowTheExplorationBudgetIsNotTried) {
  for (const double exploration : {0.01, 0.5}) {
    StaticParts parts(2, {.exploration = exploration});
    for (int i = 0; i < 50 && !parts.trying(); ++i) parts.executed(std::vector<double>{2e6, 1e6}, 2e6);
    EXPECT_EQ(parts.trying(), exploration < 0.1) << exploration;
  }
}

TEST(StaticParts, PartsInATrialAreNotDecided) {
  StaticParts parts(2, {});
  while (!parts.trying()) parts.executed(std::vector<double>{2e6, 1e6}, 2e6);
  EXPECT_NE(parts.boundaries(), parts.decided());
  EXPECT_TRUE(parts.decided_even());
  EXPECT_EQ(parts.gain(), 0);
}

TEST(StaticParts, FollowALoadThatMoves) {
  Loops loops(4, triangle, 0.002);
  loops.execute(100);
  loops.cost_ = [](double place) { return 2 * (1 - place); };
  EXPECT_GT(loops.execute(), 1.5e6 / 4);
  EXPECT_LT(loops.execute(200), 1.05e6 / 4);
}

TEST(StaticParts, ShortLoopsAreLeftAlone) {
  StaticParts parts(2, {});
  for (int i = 0; i < 50; ++i) parts.executed(std::vector<double>{9'000, 3'000}, 9'000);
  EXPECT_TRUE(parts.decided_even() && !parts.trying());
}

TEST(StaticParts, ThreadsThatTakeNoTimeAreIgnored) {
  StaticParts parts(3, {});
  for (int i = 0; i < 50; ++i) parts.executed(std::vector<double>{0, 0, 0}, 0);
  EXPECT_TRUE(parts.decided_even() && !parts.trying());
}

}  // namespace
}  // namespace steelyard::loops
