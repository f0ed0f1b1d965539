// SPDX-License-Identifier: BSD-3-Clause
#include "cores/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cores/policy.h"

namespace steelyard::cores {
namespace {

Window window(const std::vector<double>& regions, int threads = 4, int steps = 1) {
  Window made;
  made.steps = steps;
  for (double region : regions) {
    ProcessLoad load;
    load.threads = threads;
    load.region_wall = region * steps;
    load.parallel = load.region_wall * threads;
    made.loads.push_back(load);
    made.elapsed = std::max(made.elapsed, load.region_wall);
  }
  return made;
}

double region(const Estimate& estimate, std::size_t process) { return region_time(estimate.loads()[process]); }

TEST(Estimate, AveragesNoiseAway) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 0.03);
  Estimate estimate;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(estimate.add(window({1 + normal(random), 0.5 + normal(random)})), Estimate::News::steady);
  EXPECT_NEAR(region(estimate, 0) / region(estimate, 1), 2, 0.1);
  EXPECT_NEAR(estimate.noise(), 0.03 * std::sqrt(2.0 / 16), 0.006);
}

TEST(Estimate, SeesAJumpAtOnce) {
  Estimate estimate;
  for (int i = 0; i < 20; ++i) estimate.add(window({1, 0.5}));
  EXPECT_EQ(estimate.add(window({0.5, 1})), Estimate::News::changed);
  EXPECT_EQ(estimate.windows(), 1);
  EXPECT_DOUBLE_EQ(region(estimate, 1), 1);
}

TEST(Estimate, ALongerStepIsNoOtherLoad) {
  Estimate estimate;
  for (int i = 0; i < 20; ++i) {
    const double length = i % 3 ? 1 : 4;
    ASSERT_EQ(estimate.add(window({length, length / 2})), Estimate::News::steady);
  }
  EXPECT_FALSE(estimate.steady_total());
  EXPECT_NEAR(region(estimate, 0) / region(estimate, 1), 2, 1e-9);
}

TEST(Estimate, FollowsLoadsThatDrift) {
  Estimate estimate;
  for (int i = 0; i < 20; ++i) ASSERT_EQ(estimate.add(window({1 + 0.02 * i, 1 - 0.02 * i})), Estimate::News::steady);
  EXPECT_GT(region(estimate, 0) / region(estimate, 1), 1.75) << "1.6 with all that are remembered";
}

TEST(Estimate, TimesThatFollowFromThreadCountsAreNoOtherLoad) {
  for (double alpha : {0.0, 0.5, 1.0}) {
    Estimate estimate;
    for (int i = 0; i < 20; ++i) estimate.add(window({1, 0.5}));
    const double faster = std::pow(2, -alpha);
    for (int i = 0; i < 4; ++i)
      ASSERT_EQ(estimate.add(window({faster, faster / 2}, 8)), Estimate::News::steady) << alpha;
    EXPECT_NEAR(region(estimate, 0), faster, 1e-9);
  }
  Estimate estimate;
  for (int i = 0; i < 20; ++i) estimate.add(window({1, 0.5}));
  estimate.add(window({2, 0.25}, 8));
  EXPECT_EQ(estimate.add(window({2, 0.25}, 8)), Estimate::News::changed);
}

TEST(Estimate, LearnsScaling) {
  Estimate estimate;
  for (int i = 0; i < 20; ++i) estimate.add(window({1, 0.5}));
  const std::vector<ProcessLoad> before = estimate.loads();
  for (int i = 0; i < 6; ++i) estimate.add(window({std::pow(2, -0.4), 0.5 * std::pow(2, -0.4)}, 8));
  estimate.learn_scaling(before);
  EXPECT_NEAR(estimate.scaling()[0].alpha, 0.4, 0.06);
}

TEST(Estimate, EmptyAndIdleWindows) {
  Estimate estimate;
  estimate.add(window({}));
  EXPECT_TRUE(estimate.loads().empty());
  for (int i = 0; i < 10; ++i) estimate.add(window({0, 0}));
  EXPECT_EQ(region(estimate, 0), 0);
  EXPECT_EQ(estimate.add(window({1, 1})), Estimate::News::steady);  // nothing to compare it with
  EXPECT_TRUE(std::isfinite(estimate.noise()));
}

}  // namespace
}  // namespace steelyard::cores
