// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "cores/cores.h"

namespace steelyard::cores {
namespace {

Plan plan_of(std::vector<int> threads, std::vector<int> domain) {
  Plan plan;
  plan.threads = std::move(threads);
  plan.domain = std::move(domain);
  return plan;
}

const std::vector<int> kTwoDomains = {0, 0, 0, 0, 1, 1, 1, 1};
const std::vector<bool> kAll(8, true);

TEST(Seat, ChangesNoMoreOwnersThanItMust) {
  const std::vector<int> home = {0, 0, 1, 1, 2, 2, 3, 3};
  EXPECT_EQ(seat(home, kAll, kTwoDomains, plan_of({3, 1, 2, 2}, {0, 0, 1, 1})),
            (std::vector<int>{0, 0, 1, 0, 2, 2, 3, 3}));
}

TEST(Seat, MovesAProcessToItsDomain) {
  const std::vector<int> home = {0, 0, 1, 1, 2, 2, 3, 3};
  const std::vector<int> seated = seat(home, kAll, kTwoDomains, plan_of({2, 2, 2, 2}, {1, 0, 0, 1}));
  for (int core = 0; core < 8; ++core) EXPECT_EQ(kTwoDomains[core], (std::vector<int>{1, 0, 0, 1})[seated[core]]);
}

TEST(Seat, UsesNoCoreThatTheJobWasNotGiven) {
  std::vector<bool> usable = kAll;
  usable[3] = false;
  const std::vector<int> home = {0, 1, 1, -1, -1, -1, -1, -1};
  const std::vector<int> seated = seat(home, usable, kTwoDomains, plan_of({2, 2}, {0, -1}));
  EXPECT_EQ(seated[3], -1);
  EXPECT_EQ(std::count(seated.begin(), seated.end(), 1), 2);
}

TEST(Seat, AProcessWithoutADomainMaySitAnywhere) {
  const std::vector<int> home = {0, 0, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(seat(home, kAll, kTwoDomains, plan_of({7, 1}, {-1, -1})), (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 0}));
}

}  // namespace
}  // namespace steelyard::cores
