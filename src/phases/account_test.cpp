// SPDX-License-Identifier: BSD-3-Clause
#include "phases/account.h"

#include <gtest/gtest.h>

namespace steelyard::phases {
namespace {

const std::vector<Configuration> kOne{{Resource::numa, 1, 2, 4}};
const std::vector<Configuration> kTwo{{Resource::core, 1, 8, 1}, {Resource::numa, 1, 2, 4}};

TEST(Account, APhaseThatIsCreatedAgainAddsToThatOfTheFreedOne) {
  Account& first = Account::open(8, 0, false, kOne);
  first.ran(5);
  first.close();
  Account& again = Account::open(8, 0, false, kOne);
  again.ran(7);
  EXPECT_EQ(again.number(), first.number());
  EXPECT_EQ(again.created(), 2);
  EXPECT_EQ(again.runs(), 2);
  EXPECT_EQ(again.time(), 12);
}

TEST(Account, PhasesThatLiveAtOnceOrDifferHaveTheirOwn) {
  Account& one = Account::open(4, 0, false, kOne);
  EXPECT_NE(Account::open(4, 0, false, kOne).number(), one.number());
  one.close();
  EXPECT_NE(Account::open(4, 0, true, kOne).number(), one.number());
  EXPECT_NE(Account::open(4, 0, false, kTwo).number(), one.number());
  EXPECT_NE(Account::open(3, 0, false, kOne).number(), one.number());
  EXPECT_NE(Account::open(4, 1, false, kOne).number(), one.number());
  EXPECT_EQ(Account::open(4, 0, false, kOne).number(), one.number());
}

TEST(Account, TheBestIsTheLeaderOfTheContest) {
  Account& account = Account::open(8, 0, true, kTwo);
  EXPECT_EQ(account.best(), 0u);
  account.contest.emplace(2, decide::Settings{});
  account.contest->measured(1);  // warms up
  account.contest->measured(2);
  account.contest->measured(1);
  EXPECT_EQ(account.best(), 1u);
}

}  // namespace
}  // namespace steelyard::phases
