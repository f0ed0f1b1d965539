// SPDX-License-Identifier: BSD-3-Clause
#include "loops/replay.h"

#include <gtest/gtest.h>

namespace steelyard::loops {
namespace {

bool says(const std::string& sentence, const std::string& words) { return sentence.find(words) != std::string::npos; }

TEST(Replay, SaysNothingWhereAllWasRepeated) {
  EXPECT_EQ(left_out({"a", "b"}, {{"a", {5, 5}}, {"b", {1, 1}}}), "");
  EXPECT_EQ(left_out({"a", "b"}, {{"a", {5, 5}}}), "") << "a run may be shorter than the one that was recorded";
}

TEST(Replay, SaysWhereNothingWasRepeated) {
  const std::string others = left_out({"old+0x1", "old+0x2"}, {{"new+0x1", {5, 0}}});
  EXPECT_TRUE(says(others, "none of the loops that ran is in its file")) << others;
  EXPECT_TRUE(says(others, "has 2 loops (old+0x1, old+0x2), while this run had 1 loop (new+0x1)")) << others;
  EXPECT_TRUE(says(others, "--loops-learn")) << others;
  const std::string none = left_out({"a", "b", "c", "d", "e"}, {});
  EXPECT_TRUE(
      says(none, "no loop was executed by two threads or more, while its file has 5 loops (a, b, c and 2 more)"))
      << none;
  EXPECT_TRUE(says(left_out({}, {{"a", {5, 0}}}), "its file has no assignment of any loop"));
  EXPECT_TRUE(says(left_out({}, {}), "its file has no assignment of any loop"));
}

TEST(Replay, SaysWhatWasRepeatedOnlyInPart) {
  const std::string part = left_out({"a", "b", "c"}, {{"a", {5, 5}}, {"b", {5, 2}}, {"x", {3, 0}}, {"c", {1, 0}}});
  EXPECT_TRUE(says(part, "did not repeat all executions of 3 out of 4 loops that ran")) << part;
  EXPECT_TRUE(says(part, "does not have at all (x), or not with these iterations and threads (b, c)")) << part;
  const std::string unknown = left_out({"a"}, {{"a", {5, 5}}, {"x", {3, 0}}});
  EXPECT_TRUE(says(unknown, "of 1 out of 2 loops that ran, which its file does not have at all (x): record"))
      << unknown;
  const std::string otherwise = left_out({"a"}, {{"a", {5, 0}}});
  EXPECT_TRUE(says(otherwise, "which its file does not have with these iterations and threads (a): record"))
      << otherwise;
}

}  // namespace
}  // namespace steelyard::loops
