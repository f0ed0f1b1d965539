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

TEST(Nearest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest("colour", {"balance-every", "smt", "spin"}), "");
  EXPECT_EQ(nearest("xyz", {"smt"}), "") << "three edits turn any short word into any other";
  EXPECT_EQ(nearest("", {"smt"}), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

}  // namespace
}  // namespace steelyard::base
