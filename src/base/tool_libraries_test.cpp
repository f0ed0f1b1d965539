// SPDX-License-Identifier: BSD-3-Clause
#include "base/tool_libraries.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

TEST(ToolLibraries, AreThoseThatTheRuntimeCanRead) {
  const auto found = tool_libraries(":/nowhere/a.so:/proc/self/exe::libtool.so:/nowhere/b.so:");
  EXPECT_EQ(found.missing, "/nowhere/a.so:/nowhere/b.so");
  EXPECT_EQ(found.others, "/proc/self/exe:libtool.so");
  EXPECT_EQ(tool_libraries("").others, "");
}

}  // namespace
}  // namespace steelyard::base
