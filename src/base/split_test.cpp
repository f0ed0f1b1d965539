// SPDX-License-Identifier: BSD-3-Clause
#include "base/split.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(split("a:b", ":"), (Pieces{"a", "b"}));
  EXPECT_EQ(split(":a::b:", ":"), (Pieces{"", "a", "", "b", ""}));
  EXPECT_EQ(split("", ":"), (Pieces{""}));
}

TEST(Split, AtAnyOfTheDelimiters) { EXPECT_EQ(split("a-b c", " -"), (Pieces{"a", "b", "c"})); }

TEST(Split, AListMayEndWithADelimiter) {
  EXPECT_EQ(items_of("a::b", ":"), (Pieces{"a", "", "b"}));
  EXPECT_EQ(items_of("a:", ":"), (Pieces{"a"}));
  EXPECT_EQ(items_of("a::", ":"), (Pieces{"a", ""}));
  EXPECT_TRUE(items_of("", ":").empty());
}

TEST(Split, WordsAreNeverEmpty) {
  EXPECT_EQ(words_of("  a - b ", " -"), (Pieces{"a", "b"}));
  EXPECT_TRUE(words_of("", " ").empty());
}

}  // namespace
}  // namespace steelyard::base
