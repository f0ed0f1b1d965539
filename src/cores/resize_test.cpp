// SPDX-License-Identifier: BSD-3-Clause
#include "cores/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace steelyard::cores {
namespace {

using ByCore = std::vector<int>;

std::vector<bool> cores(int count, int from, int to) {
  std::vector<bool> usable(static_cast<std::size_t>(count), false);
  std::fill(usable.begin() + from, usable.begin() + to, true);
  return usable;
}

TEST(Resize, SharesTheRestInProportionAndMovesFewCores) {
  const ByCore owner = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(resized(owner, cores(8, 0, 4), ByCore(8, 0), {{4}, {4}}), (ByCore{0, 0, 1, 1, -1, -1, -1, -1}));
  EXPECT_EQ(resized(owner, cores(8, 2, 6), ByCore(8, 0), {{4}, {4}}), (ByCore{-1, -1, 0, 0, 1, 1, -1, -1}));
  EXPECT_EQ(resized({0, 0, 0, 0, 0, 0, 1, 1}, cores(8, 0, 7), ByCore(8, 0), {{6}, {2}}),
            (ByCore{0, 0, 0, 0, 0, 1, 1, -1}));
}

TEST(Resize, HandsOutCoresThatWereWithdrawn) {
  EXPECT_EQ(resized({0, 1, -2, -2, -2, -2}, cores(6, 0, 6), ByCore(6, 0), {{1}, {1}}), (ByCore{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(resized({0, 1, -2, -2}, cores(4, 0, 4), ByCore(4, 0), {{1, false, 1}, {1}}), (ByCore{0, 1, 1, 1}))
      << "rank 0 can have no second thread";
}

TEST(Resize, LeavesFixedProcessesTheirCount) {
  EXPECT_EQ(resized({0, 0, 1, 1, 1, 1}, cores(6, 2, 6), ByCore(6, 0), {{2, true}, {4}}), (ByCore{-1, -1, 1, 1, 0, 0}));
}

TEST(Resize, SpansNoDomainUnlessCoresWouldBeLeftOver) {
  const ByCore domain = {0, 0, 0, 0, 1, 1, 1, 1};
  const ByCore owner = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(resized(owner, {true, true, true, true, true, false, false, false}, domain, {{4}, {4}}),
            (ByCore{0, 0, 0, 0, 1, -1, -1, -1}));
  EXPECT_EQ(resized({0, 0, -2, -2, -2, -2}, cores(6, 0, 6), {0, 0, 1, 1, 1, 1}, {{2}}), ByCore(6, 0));
}

TEST(Resize, SaysHowManyCoresAreNeeded) {
  EXPECT_EQ(too_few_reason({{4}, {4}}, 2), "");
  EXPECT_EQ(too_few_reason({{4}, {4}}, 1), "1 core would be left for 2 ranks of this node: leave at least 2");
  EXPECT_EQ(too_few_reason({{4, true}, {4}}, 4),
            "4 cores would be left for 2 ranks of this node, and the thread counts of 1 of them must not change: leave "
            "at least 5");
}

// Whatever the node: each process has a core, fixed ones what they had, no core is used that is not usable, and all are
// used that ceilings and fixed processes allow.
TEST(Resize, KeepsItsPromisesOnRandomNodes) {
  std::mt19937 random(24);
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  int tried = 0;
  for (int round = 0; round < 3000; ++round) {
    const int count = 2 + up_to(14), processes = 1 + up_to(3), domains = 1 + up_to(2);
    ByCore owner, domain;
    std::vector<bool> usable;
    for (int core = 0; core < count; ++core) {
      owner.push_back(core < processes ? core : up_to(processes) - 1);
      domain.push_back(core * domains / count);
      usable.push_back(up_to(3) > 0);
    }
    std::vector<Claim> claims;
    int most = 0;
    for (int p = 0; p < processes; ++p) {
      claims.push_back({static_cast<int>(std::ranges::count(owner, p)), up_to(4) == 0, 1 + up_to(20)});
      most += claims.back().fixed ? std::max(1, claims.back().cores) : claims.back().ceiling;
    }
    const auto left = static_cast<int>(std::ranges::count(usable, true));
    if (!too_few_reason(claims, left).empty()) continue;
    ++tried;
    const ByCore after = resized(owner, usable, domain, claims);
    for (int core = 0; core < count; ++core) EXPECT_TRUE(usable[core] || after[core] == -1);
    int given = 0;
    for (int p = 0; p < processes; ++p) {
      const auto own = static_cast<int>(std::ranges::count(after, p));
      given += own;
      EXPECT_GE(own, 1) << "round " << round;
      if (claims[p].fixed)
        EXPECT_EQ(own, std::max(1, claims[p].cores));
      else
        EXPECT_LE(own, claims[p].ceiling);
    }
    EXPECT_EQ(given, std::min(left, most)) << "round " << round;
  }
  EXPECT_GT(tried, 500);
}

}  // namespace
}  // namespace steelyard::cores
