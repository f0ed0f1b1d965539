// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("./app --x=1 größer → 3 µs"), "./app --x=1 größer → 3 µs");
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("\xc2"), "\xc2") << "cut in a character";
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(printable("a\033[2J\rb\n\tc\x7f"), "a?[2J?b??c?");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31mb"),
            "a?31mb")
      << "U+009B begins a sequence as ESC [ does";
  EXPECT_EQ(printable("a\n\033b", "\n"), "a\n?b");
}

}  // namespace
}  // namespace steelyard::base
