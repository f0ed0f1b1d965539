// SPDX-License-Identifier: BSD-3-Clause
#include "phases/choice.h"

#include <gtest/gtest.h>

#include <random>

namespace steelyard::phases {
namespace {

std::vector<Configuration> configurations(int count) {
  std::vector<Configuration> made;
  for (int i = 0; i < count; ++i) made.push_back({Resource::machine, 1 << i, 1 << i, 16 >> i});
  return made;
}

/// Runs a phase until the choice is made; how many runs that took.
template <class Time>
int settle(Choice& choice, Time time) {
  int runs = 0;
  while (!choice.settled() && runs < 1000) {
    choice.measured(time(choice.index()));
    ++runs;
  }
  return runs;
}

TEST(Choice, OfOneIsMadeAtOnce) {
  Choice choice(configurations(1));
  EXPECT_TRUE(choice.settled());
  choice.measured(5);
  EXPECT_EQ(choice.runs(0), 0);
}

TEST(Choice, FindsTheFastestAndStays) {
  for (std::size_t best = 0; best < 5; ++best) {
    Choice choice(configurations(5));
    settle(choice, [&](std::size_t i) { return i == best ? 900'000 : 1'000'000 + 1000 * static_cast<int>(i); });
    EXPECT_TRUE(choice.settled());
    EXPECT_EQ(choice.index(), best);
    choice.measured(1'000'000'000);
    EXPECT_EQ(choice.index(), best) << "a choice is a choice";
  }
}

TEST(Choice, WastesNoRunsOnTheHopeless) {
  Choice choice(configurations(5));
  const int runs = settle(choice, [](std::size_t i) { return i == 2 ? 100 : 400; });
  EXPECT_EQ(choice.index(), 2U);
  EXPECT_EQ(runs, 6) << "one to warm up, then one each";
}

TEST(Choice, IsNotFooledByAColdStart) {
  Choice choice(configurations(3));
  int run = 0;
  settle(choice, [&](std::size_t i) { return run++ == 0 ? 100'000 : i == 0 ? 100 : 200; });
  EXPECT_EQ(choice.index(), 0U);
}

TEST(Choice, SurvivesNoise) {
  std::mt19937 random(3);
  int right = 0;
  for (int round = 0; round < 200; ++round) {
    Choice choice(configurations(4));
    std::normal_distribution<> noise(1, 0.03);
    settle(choice, [&](std::size_t i) {
      return static_cast<std::int64_t>((i == 1 ? 1e6 : 1.2e6) * noise(random) * (random() % 20 == 0 ? 2 : 1));
    });
    right += choice.index() == 1;
  }
  EXPECT_GT(right, 180);
}

TEST(Choice, IsTheSameEverywhere) {
  std::mt19937 random(5);
  Choice a(configurations(5)), b(configurations(5));
  for (int run = 0; run < 40; ++run) {
    ASSERT_EQ(a.index(), b.index());
    const auto ns = static_cast<std::int64_t>(1000 + random() % 100);
    a.measured(ns);
    b.measured(ns);
  }
  EXPECT_TRUE(a.settled());
}

}  // namespace
}  // namespace steelyard::phases
