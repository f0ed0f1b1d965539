// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("balance", "balance"), 0);
  EXPECT_EQ(edit_distance("balance", "balence"), 1);   // replaced
  EXPECT_EQ(edit_distance("balance", "blaance"), 1);   // swapped
  EXPECT_EQ(edit_distance("balance", "ballance"), 1);  // inserted
  EXPECT_EQ(edit_distance("balance", "balace"), 1);    // left out
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(EditDistance, IsSymmetric) {
  EXPECT_EQ(edit_distance("lending", "elnding-x"), edit_distance("elnding-x", "lending"));
}

TEST(Nearest, TakesTheNearestOfSeveral) {
  EXPECT_EQ(nearest("balence-at", {"balance-every", "balance-at", "cores"}), "balance-at");
}

TEST(Nearest, TakesAWordThatWasBegunBeforeOneThatIsNear) {
  EXPECT_EQ(nearest("balance-e", {"balance-at", "balance-every"}), "balance-every") << "balance-at is nearer";
  EXPECT_EQ(nearest("--thread", {"--thread-local-data", "--thread-ids", "--mpi"}), "--thread-ids") << "the shorter";
  EXPECT_EQ(nearest("s", {"on", "sabo", "off"}), "sabo");
}

TEST(Nearest, TakesALetterThatIsLeftOutBeforeAReplacedOne) {
  for (const std::vector<std::string_view>& order : {std::vector<std::string_view>{"on", "off"}, {"off", "on"}}) {
    EXPECT_EQ(nearest("of", order), "off");
    EXPECT_EQ(nearest("ff", order), "off");
    EXPECT_EQ(nearest("onn", order), "on");
  }
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest("colour", {"balance-every", "smt", "spin"}), "");
  EXPECT_EQ(nearest("-", {"--help"}), "") << "every option begins so";
  EXPECT_EQ(nearest("--", {"--help"}), "");
  EXPECT_EQ(nearest("xyz", {"smt"}), "") << "three edits turn any short word into any other";
  EXPECT_EQ(nearest("", {"smt"}), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

}  // namespace
}  // namespace steelyard::base
