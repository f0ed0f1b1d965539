// SPDX-License-Identifier: BSD-3-Clause
#include "decide/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "decide/streams.h"

namespace steelyard::decide {
namespace {

TEST(StandardErrors, AreThoseOfTheNormalDistribution) {
  EXPECT_NEAR(standard_errors(0.5), 0.6744898, 1e-6);
  EXPECT_NEAR(standard_errors(0.95), 1.9599640, 1e-6);
  EXPECT_NEAR(standard_errors(0.9999), 3.8905919, 1e-6);
}

TEST(Estimate, KnowsNothingAtFirst) {
  Estimate estimate;
  EXPECT_TRUE(estimate.interval(0.95).contains(1e9));
  for (int i = 0; i < 3; ++i) estimate.add(1);
  EXPECT_TRUE(std::isinf(estimate.interval(0.95).high));
  estimate.add(1);
  EXPECT_FALSE(std::isinf(estimate.interval(0.95).high));
  EXPECT_DOUBLE_EQ(estimate.mean(), 1);
}

TEST(Interval, ShowsItsLevel) {
  EXPECT_EQ(to_text({0.344, 0.378}, 0.95), "95 % CI 34.4 to 37.8 %");
  EXPECT_EQ(to_text({-0.0213, 0.5}, 0.999), "99.9 % CI -2.1 to 50.0 %");
}

TEST(Estimate, IsSymmetricAndMovesWithItsValues) {
  Estimate here, there, mirrored;
  for (const double value : {0.1, 0.13, 0.11, 0.12, 0.08, 0.1}) {
    here.add(value);
    there.add(value + 5);
    mirrored.add(-value);
  }
  const Interval interval = here.interval(0.95);
  EXPECT_NEAR(there.interval(0.95).low, interval.low + 5, 1e-12);
  EXPECT_NEAR(mirrored.interval(0.95).high, -interval.low, 1e-12);
  EXPECT_LT(here.interval(0.8).half_width(), interval.half_width());
}

TEST(Estimate, AnOutlierCountsAsThreeDeviations) {
  Estimate estimate;
  for (int i = 0; i < 20; ++i) estimate.add(0.01 * (i % 2));
  const double before = estimate.mean(), far = Estimate::kClip * estimate.deviation();
  estimate.add(1000);
  EXPECT_NEAR(estimate.mean(), before + far / 21, 1e-12);
}

TEST(Estimate, AnAccurateAndTrustedPriorDecidesSooner) {
  Estimate trusted(0.01, 10);
  trusted.add(0);
  trusted.add(0.01);
  EXPECT_LT(trusted.interval(0.95).half_width(), 0.05);
}

// Looked at after each of 300 values: the interval must contain the mean at every look.
class OfStream : public testing::TestWithParam<Noise> {};
TEST_P(OfStream, ItsIntervalHoldsAtEveryLook) {
  int missed = 0;
  double width = 0;
  for (int run = 0; run < 1000; ++run) {
    Stream stream(GetParam(), run);
    Estimate estimate;
    bool held = true;
    for (int i = 0; i < 300; ++i) {
      estimate.add(std::log(stream.next()));
      held = held && estimate.interval(0.95).contains(0);
    }
    missed += !held;
    width += estimate.interval(0.95).half_width() / 1000;
  }
  std::printf("  missed in %d of 1000 runs; half width after 300 values: %.4f\n", missed, width);
  EXPECT_LE(missed, 64);  // 5 %, and two standard deviations of a count of 1000 runs
}
// The mean of spikes, bursts and drift is not 0; neighbours that are alike have an interval for each pair instead.
INSTANTIATE_TEST_SUITE_P(Independent, OfStream, testing::Values(Noise::steady, Noise::loud, Noise::heavy_tailed),
                         [](const auto& tested) { return std::string(name(tested.param)); });

}  // namespace
}  // namespace steelyard::decide
