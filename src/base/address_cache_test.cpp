// SPDX-License-Identifier: BSD-3-Clause
#include "base/address_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace steelyard::base {
namespace {

TEST(AddressCache, FindsEachAddressOnceWhileItIsKept) {
  AddressCache<int> cache;
  int object = 0, found = 0;
  const auto find = [&]() -> int& { return ++found, object; };
  EXPECT_EQ(&cache.at(0x401010, find), &object);
  EXPECT_EQ(&cache.at(0x401010, find), &object);
  EXPECT_EQ(found, 1);
}

TEST(AddressCache, GivesTheObjectOfItsAddressAlsoAmongManyMoreThanItHolds) {
  AddressCache<const std::uint64_t> cache;
  std::map<std::uint64_t, std::uint64_t> table;
  for (int times = 0; times < 3; ++times) {
    for (std::uint64_t address = 1; address < 100'000; address += 37) {
      const auto find = [&]() -> const std::uint64_t& { return table[address] = address; };
      ASSERT_EQ(cache.at(address, find), address);
    }
  }
}

TEST(AddressCache, KeepsNothingOfAFailedSearch) {
  AddressCache<int> cache;
  int object = 0;
  EXPECT_THROW(cache.at(1, []() -> int& { throw std::runtime_error("none"); }), std::runtime_error);
  EXPECT_EQ(&cache.at(1, [&]() -> int& { return object; }), &object);
}

}  // namespace
}  // namespace steelyard::base
