// SPDX-License-Identifier: BSD-3-Clause
#include "observe/text.h"

#include <gtest/gtest.h>

#include <random>

namespace steelyard::observe {
namespace {

TEST(Text, RankLists) {
  EXPECT_EQ(rank_list({3}), "rank 3");
  EXPECT_EQ(rank_list({0, 1, 2, 3}), "ranks 0-3");
  EXPECT_EQ(rank_list({0, 2, 5, 6, 7}), "ranks 0, 2, 5-7");
  EXPECT_EQ(rank_list({0, 2, 4, 6, 8}, 3), "ranks 0, 2, 4, ... (5 in all)");
  EXPECT_EQ(numbered("node", {1, 2}), "nodes 1-2");
}

TEST(Text, Counts) {
  EXPECT_EQ(counts({}), "none");
  EXPECT_EQ(counts({6}), "6");
  EXPECT_EQ(counts({6, 6}), "6 each");
  EXPECT_EQ(counts({9, 7, 6}), "9,7,6");
  EXPECT_EQ(counts({9, 7, 6, 1}, 2), "9,7,... (1 to 9)");
}

TEST(Text, Figures) {
  EXPECT_EQ(percent(0.2187, 1), "21.9 %");
  EXPECT_EQ(percent(-0.0001, 1), "0.0 %");
  EXPECT_EQ(percent(-0.02), "-2 %");
  EXPECT_EQ(duration(0), "0 s");
  EXPECT_EQ(duration(0.0612), "61.2 ms");
  EXPECT_EQ(duration(0.9999), "1.00 s");
  EXPECT_EQ(duration(0.0009), "900 us");
  EXPECT_EQ(duration(3e-9), "0.00 us");
  EXPECT_EQ(duration(12345.6), "12346 s");
  EXPECT_EQ(plural(1, "move"), "1 move");
  EXPECT_EQ(plural(0, "move"), "0 moves");
}

TEST(Text, WrapsAtBlanks) {
  EXPECT_EQ(wrapped("- ", "one two three", 9, 9), (std::vector<std::string>{"- one two", "  three"}));
  EXPECT_EQ(wrapped("- ", "", 9, 9), (std::vector<std::string>{"- "}));
  EXPECT_EQ(wrapped("", "a\nb\tc \x1b d", 20, 9), (std::vector<std::string>{"a b c ? d"}));
  EXPECT_EQ(wrapped("", "gains 21.5 % now", 10, 9), (std::vector<std::string>{"gains", "21.5 % now"}));
  EXPECT_EQ(wrapped("", "by ranks 0, 2, 5-7 and 8", 17, 9),
            (std::vector<std::string>{"by", "ranks 0, 2, 5-7", "and 8"}));
  EXPECT_EQ(wrapped("", "by rank 3, by 1, ... (9 in all)", 8, 9),
            (std::vector<std::string>{"by", "rank 3,", "by", "1, ...", "(9 in", "all)"}));
  EXPECT_EQ(wrapped("", "ranks 10, 12, 14", 8, 9), (std::vector<std::string>{"ranks", "10,", "12, 14"})) << "too long";
  EXPECT_EQ(wrapped("", "one two three four", 9, 2), (std::vector<std::string>{"one two", "three ..."}));
}

TEST(Text, WrappedNeverExceedsItsBounds) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::size_t length = random() % 300; text.size() < length;) {
      text += random() % 9 == 0    ? " "
              : random() % 40 == 0 ? "\u00e9"
              : random() % 30 == 0 ? "%"
                                   : std::string(1, 'a' + random() % 26);
    }
    const std::size_t columns = 10 + random() % 60, most = 1 + random() % 5;
    const auto lines = wrapped("head ", text, columns, most);
    ASSERT_FALSE(lines.empty());
    ASSERT_LE(lines.size(), most);
    for (const std::string& line : lines) ASSERT_LE(width(line), columns) << text;
  }
}

TEST(Text, TableAlignsNumbersRightAndWordsLeft) {
  Table table({"rank", "host", "s"});
  table.add({"0", "a", "1.5"});
  table.add({"10", "node\u00e9", "12.5"});
  table.add({"11"});
  EXPECT_EQ(table.text(" "), " rank  host      s\n    0  a       1.5\n   10  node\u00e9  12.5\n   11\n");
}

TEST(Text, LetsNoControlCharactersOfOthersThrough) {
  EXPECT_EQ(wrapped("\033]0;x\a ", "\033[2J", 40, 1), (std::vector<std::string>{"?]0;x? ?[2J"}));
  Table table({"host"});
  table.add({"node\033[31m\n"});
  EXPECT_EQ(table.text(""), "host\nnode?[31m?\n");
}

TEST(Text, EmptyTableIsItsHeader) { EXPECT_EQ(Table({"a", "b"}).text(""), "a  b\n"); }

TEST(ExcludesZero, AsItIsPrinted) {
  EXPECT_TRUE(excludes_zero(0.001, 0.2));
  EXPECT_TRUE(excludes_zero(-0.2, -0.001));
  EXPECT_FALSE(excludes_zero(0.0004, 0.2)) << "0.0 to 20.0 %";
  EXPECT_FALSE(excludes_zero(-0.2, -0.0004));
  EXPECT_FALSE(excludes_zero(-0.1, 0.2));
}

}  // namespace
}  // namespace steelyard::observe
