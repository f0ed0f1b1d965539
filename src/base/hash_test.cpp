// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace steelyard::base {
namespace {

std::uint64_t hash_of(std::string_view text) { return fnv1a(std::as_bytes(std::span(text))); }

TEST(Fnv1a, IsTheOneOfThePublishedTestVectors) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8u);
}

TEST(Spread, SeparatesKeysThatFollowEachOther) {
  std::set<std::uint64_t> slots;
  for (std::uint64_t key = 0x401000; key < 0x401040; ++key) slots.insert(spread(key) >> 58);
  EXPECT_GT(slots.size(), 48u) << "of 64";
}

}  // namespace
}  // namespace steelyard::base
