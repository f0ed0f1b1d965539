// SPDX-License-Identifier: BSD-3-Clause
#include "partition/known_queries.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace steelyard::partition {
namespace {

/// A function that takes some time to decode.
[[gnu::noinline]] void work(void* values) {
  auto& all = *static_cast<std::vector<double>*>(values);
  for (double& value : all) {
    if (value > 1) value = std::sqrt(value) + std::log(value);
    if (value < 0) value = value < -1 ? std::exp(value) : std::sin(value);
  }
}

TEST(KnownQueries, AFunctionIsDecodedOnce) {
  std::vector<double> values{1, 2};
  work(&values);
  const auto* const body = reinterpret_cast<const void*>(&work);
  const std::int64_t before = decoding_ns();
  EXPECT_FALSE(may_ask(body)) << "it has no queries";
  const std::int64_t first = decoding_ns() - before;
  EXPECT_GT(first, 0);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(may_ask(body));
  EXPECT_LT(decoding_ns() - before, 3 * first);
  const std::uint32_t generation = code_generation();
  forget_all();
  EXPECT_NE(code_generation(), generation);
  EXPECT_FALSE(may_ask(body));
}

}  // namespace
}  // namespace steelyard::partition
