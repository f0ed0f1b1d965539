// SPDX-License-Identifier: BSD-3-Clause
#include "node/cpu_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace steelyard::node {
namespace {

TEST(CpuSet, SaysItselfInRanges) {
  EXPECT_EQ(to_text({0, 1, 2, 3, 8, 63, 64, 20000}), "0-3,8,63-64,20000");
  EXPECT_EQ(to_text({5, 6}), "5-6");
  EXPECT_EQ(to_text({}), "");
  EXPECT_EQ(CpuSet({-1}), CpuSet());
}

TEST(CpuSet, IsReadFromRangesAndMasks) {
  EXPECT_EQ(CpuSet::parse("0-3,8"), (CpuSet{0, 1, 2, 3, 8}));
  EXPECT_EQ(CpuSet::parse(""), CpuSet());
  EXPECT_EQ(CpuSet::parse("20000"), CpuSet{20000});
  for (const char* wrong : {"x", "4-"}) EXPECT_EQ(CpuSet::parse(wrong), std::nullopt) << wrong;
  EXPECT_EQ(CpuSet::parse_mask("0x3"), (CpuSet{0, 1}));
  EXPECT_EQ(CpuSet::parse_mask("8" + std::string(32, '0')), CpuSet{131});
  for (const char* wrong : {"0xzz", "0xf...f"}) EXPECT_EQ(CpuSet::parse_mask(wrong), std::nullopt) << wrong;
}

TEST(CpuSet, IsAValue) {
  CpuSet set{1, 70};
  CpuSet other = set;
  other.add(2);
  other = other - CpuSet{70};
  EXPECT_EQ(set, (CpuSet{1, 70}));
  EXPECT_EQ(other, (CpuSet{1, 2}));
  CpuSet moved = std::move(other);
  EXPECT_EQ(moved, (CpuSet{1, 2}));
  other = set;
  set = std::move(moved);
  EXPECT_EQ(other, (CpuSet{1, 70}));
  EXPECT_EQ(set, (CpuSet{1, 2}));
  set = *&set;
  EXPECT_EQ(set, (CpuSet{1, 2}));
  EXPECT_EQ(set.only(1), CpuSet{2});
  EXPECT_EQ(set.only(2), CpuSet());
  EXPECT_EQ(CpuSet().first(), -1);
  EXPECT_EQ(CpuSet().last(), -1);
  EXPECT_TRUE(CpuSet().within({}));
  EXPECT_FALSE(CpuSet().meets({0}));
}

TEST(CpuSet, CountsAndCombinesAsASetOfTheStandardLibrary) {
  std::mt19937 random(1);
  for (int times = 0; times < 200; ++times) {
    std::set<int> a, b, both, either, rest;
    for (int i = 0; i < 40; ++i) (random() % 2 != 0 ? a : b).insert(static_cast<int>(random() % 300));
    std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
    std::ranges::set_union(a, b, std::inserter(either, either.end()));
    std::ranges::set_difference(a, b, std::inserter(rest, rest.end()));
    const auto made = [](const std::set<int>& from) { return CpuSet(std::vector<int>(from.begin(), from.end())); };
    const CpuSet left = made(a), right = made(b);
    EXPECT_EQ(left & right, made(both));
    EXPECT_EQ(left | right, made(either));
    EXPECT_EQ(left - right, made(rest));
    EXPECT_EQ(left.meets(right), !both.empty());
    EXPECT_TRUE((left & right).within(left));
    EXPECT_EQ(left.count(), static_cast<int>(a.size()));
    EXPECT_EQ(left.first(), *a.begin());
    EXPECT_EQ(left.last(), *a.rbegin());
    EXPECT_TRUE(std::ranges::equal(left.cpus(), a));
    EXPECT_EQ(CpuSet::parse(to_text(left)), left);
    const auto words = left.words();
    EXPECT_EQ(CpuSet::from_words(words.data(), words.size()), left);
  }
}

TEST(SharedCpuSet, HoldsWhatItIsGivenOrRefusesIt) {
  SharedCpuSet shared;
  for (const CpuSet& set : {CpuSet(), CpuSet{0}, CpuSet{0, 63, 64, 4095}}) {
    EXPECT_TRUE(shared.assign(set));
    EXPECT_EQ(shared.set(), set);
  }
  const base::Status refused = shared.assign({0, 4096});
  EXPECT_EQ(refused.code(), base::Code::unsupported);
  EXPECT_NE(refused.sentence().find("CPU 4096 is beyond the 4096 CPUs"), std::string::npos) << refused.sentence();
  EXPECT_TRUE(shared.set().empty());
}

}  // namespace
}  // namespace steelyard::node
