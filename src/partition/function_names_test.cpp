// SPDX-License-Identifier: BSD-3-Clause
#include "partition/function_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::partition {

// Not inlined, so that they have code of their own.
[[gnu::noinline]] int first_of_two(int n) { return n + 1; }
template <class T>
[[gnu::noinline]] T second_of_two(T n) {
  return n * 2;
}

namespace {

TEST(FunctionNames, FunctionsOfThisProcessAreNamed) {
  const auto inside = [](auto* function) { return reinterpret_cast<std::uint64_t>(function) + 1; };
  int on_the_stack = 0;
  EXPECT_THAT(
      function_names(
          {inside(&second_of_two<double>), reinterpret_cast<std::uint64_t>(&on_the_stack), inside(&first_of_two), 0}),
      testing::ElementsAre("steelyard::partition::second_of_two<...>", "", "steelyard::partition::first_of_two", ""));
  EXPECT_TRUE(function_names({}).empty());
}

}  // namespace
}  // namespace steelyard::partition
