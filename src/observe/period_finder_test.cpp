// SPDX-License-Identifier: BSD-3-Clause
#include "observe/period_finder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace steelyard::observe {
namespace {

void feed(PeriodFinder& finder, const std::string& sites) {
  for (const char c : sites) finder.tick(static_cast<std::uint64_t>(c));
}

std::string times(const std::string& step, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += step;
  return all;
}

int period_of(const std::string& sites) {
  PeriodFinder finder;
  feed(finder, sites);
  return finder.period();
}

TEST(PeriodFinder, NothingKnownAtFirst) {
  PeriodFinder finder;
  EXPECT_EQ(finder.period(), 0);
  feed(finder, "AB");
  EXPECT_EQ(finder.period(), 0);
}

TEST(PeriodFinder, ThreeRepeatsAreEnough) {
  EXPECT_EQ(period_of("AAA"), 1);
  EXPECT_EQ(period_of("ABABA"), 0);
  EXPECT_EQ(period_of("ABABAB"), 2);
  EXPECT_EQ(period_of(times("AAB", 3)), 3);
  EXPECT_EQ(period_of(times("ABAC", 3)), 4);
}

TEST(PeriodFinder, SetUpIsForgiven) {
  EXPECT_EQ(period_of("qwertyuiopqqwxyz" + times("ABAC", 5)), 4);
  std::string setup;
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) setup += static_cast<char>('a' + random() % 20);
  EXPECT_EQ(period_of(setup + times("ABAC", 8)), 4);
}

// An inner loop of equal calls in a longer step: after the first steps it is the step that counts, and it stays.
TEST(PeriodFinder, RunsInsideAStepDoNotFool) {
  for (const std::string step : {"AAB", "AAAAB", "AAAAAAB", "ABABABC", "AAAABBBB", "ABABABABC", "AABAAC"}) {
    PeriodFinder finder;
    feed(finder, times(step, 12));
    for (int i = 0; i < 300; ++i) {
      finder.tick(static_cast<std::uint64_t>(step[i % step.size()]));
      ASSERT_EQ(finder.period(), static_cast<int>(step.size())) << step << " at " << i;
    }
  }
}

TEST(PeriodFinder, LongInnerLoopsAreTheStep) { EXPECT_EQ(period_of(times(times("A", 50) + "B", 10)), 1); }

TEST(PeriodFinder, ExtraCallEveryTenStepsIsForgiven) {
  for (const std::string step : {"A", "AB", "AAB", "ABAC", "ABCDEFGH"}) {
    PeriodFinder finder;
    feed(finder, times(times(step, 10) + "X", 3));
    int off = 0;
    int ticks = 0;
    for (int block = 0; block < 40; ++block) {
      for (const char c : times(step, 10) + "X") {
        finder.tick(static_cast<std::uint64_t>(c));
        off += finder.period() != static_cast<int>(step.size());
        ++ticks;
      }
    }
    EXPECT_EQ(off, 0) << step << " of " << ticks;
  }
}

TEST(PeriodFinder, AStepThatDiffersNowAndThenIsForgiven) {
  PeriodFinder finder;
  std::mt19937 random(5);
  feed(finder, times("ABAC", 3));
  for (int step = 0; step < 500; ++step) {
    feed(finder, random() % 10 == 0 ? "ABAD" : "ABAC");
    ASSERT_EQ(finder.period(), 4) << step;
  }
}

TEST(PeriodFinder, LongStepsUpToTheLimit) {
  for (const int length : {2, 3, 17, 100, 255, 256, 257}) {
    PeriodFinder finder(256);
    for (int i = 0; i < 8 * length; ++i) finder.tick(static_cast<std::uint64_t>(i % length));
    EXPECT_EQ(finder.period(), length <= 256 ? length : 0);
  }
}

TEST(PeriodFinder, ChangeOfPhaseFindsTheNewOne) {
  const std::string steps[] = {"ABAC", "DEF", "A", "ABABABC", "AB", "ABACADAE", "G"};
  PeriodFinder finder;
  for (int round = 0; round < 60; ++round) {
    const std::string& step = steps[round % std::size(steps)];
    feed(finder, times(step, 40));
    ASSERT_EQ(finder.period(), static_cast<int>(step.size())) << "round " << round << ", " << step;
  }
}

// ABAC fits itself at a distance of 8, 12 ...; AAAA fits at any.
TEST(PeriodFinder, GoesToTheShorterPeriodWhenAPartOfTheStepGoesOnAlone) {
  PeriodFinder finder;
  feed(finder, times("ABCDEFGH", 30) + times("A", 60));
  EXPECT_EQ(finder.period(), 1);
  feed(finder, times("ABCDABCE", 30) + times("ABCD", 30));
  EXPECT_EQ(finder.period(), 4);
}

TEST(PeriodFinder, NothingPeriodicIsZero) {
  PeriodFinder finder;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    finder.tick(i * i);
    ASSERT_EQ(finder.period(), 0);
  }
}

// With few sites chance repeats look like periods for a moment; that has to become rare.
TEST(PeriodFinder, ChanceIsNotAPeriod) {
  for (const unsigned sites : {2u, 3u, 8u}) {
    PeriodFinder finder;
    std::mt19937 random(11);
    int claimed = 0;
    for (int i = 0; i < 20000; ++i) {
      finder.tick(random() % sites);
      claimed += i >= 5000 && finder.period() != 0;
    }
    EXPECT_LT(claimed, 150) << sites << " sites";  // 1,258 of 2 sites if evidence does not grow
  }
}

TEST(PeriodFinder, AnyRandomStepIsFoundAfterAnySetUp) {
  std::mt19937 random(13);
  for (int round = 0; round < 2000; ++round) {
    const int length = 1 + static_cast<int>(random() % 40);
    std::string step;
    for (int i = 0; i < length; ++i) step += static_cast<char>('A' + random() % (2 + random() % 12));
    std::string setup;
    for (std::size_t n = random() % 200; setup.size() < n;) setup += static_cast<char>('A' + random() % 14);
    PeriodFinder finder;
    feed(finder, setup + times(step, 30));
    const int found = finder.period();
    ASSERT_NE(found, 0) << step;
    // The smallest that explains it: a shorter one is right if it holds for four ticks in five.
    int fits = 0;
    for (int i = 0; i < length; ++i) fits += step[i] == step[(i + found) % length];
    ASSERT_GE(5 * fits, 4 * length) << step << " as " << found;
    ASSERT_LE(found, length) << step;
  }
}

TEST(PeriodFinder, StaysUsableWithAbsurdLimits) {
  for (const int longest : {-5, 0, 1, 2}) {
    PeriodFinder finder(longest);
    feed(finder, times("ABC", 50) + times("A", 50));
    EXPECT_EQ(finder.period(), 1);
  }
}

}  // namespace
}  // namespace steelyard::observe
