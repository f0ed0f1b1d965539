// SPDX-License-Identifier: BSD-3-Clause
#include "cores/borrowing.h"

#include <gtest/gtest.h>

#include <tuple>

namespace steelyard::cores {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A process that runs one region after the other, on own cores and, while Borrowing allows it, on borrowed ones, where
/// it gets a part of the CPU's time. The iterations are divided evenly.
struct Process {
  int own = 1;
  int offered = 1;
  std::int64_t work = 10 * kMs;  // thread time of a region
  bool statistics = true;        // the kernel has them
  Borrowing borrowing{decide::Settings{}};
  std::int64_t now = 0;
  std::int64_t in_borrowed_regions = 0;
  int held_up_and_measured = 0;

  // Returns the length of the region.
  std::int64_t run(double share_of_core) {
    const std::int64_t alone = work / own;
    if (!borrowing.allowed(now)) {
      now += alone;
      return alone;
    }
    const std::int64_t part = work / (own + offered);
    const bool measured = statistics && borrowing.wants_measurement(now, part);
    const auto wall = static_cast<std::int64_t>(static_cast<double>(part) / share_of_core);
    held_up_and_measured += measured && share_of_core < 1 ? 1 : 0;
    now += wall;
    in_borrowed_regions += wall;
    borrowing.learn({own + offered, offered, wall, part, measured ? wall - part : 0, measured}, now);
    return wall;
  }
};

TEST(Borrowing, GoesOnWhereThreadsHaveTheirCores) {
  Process process{.own = 4, .offered = 3};
  for (int i = 0; i < 1000; ++i) process.run(1);
  EXPECT_EQ(process.borrowing.pauses(), 0);
  EXPECT_EQ(process.in_borrowed_regions, process.now);
}

// Half of a second core for one thread: as long as on one core. Less: longer.
TEST(Borrowing, GoesOnWhereAPartOfACoreIsStillAGain) {
  Process process;
  for (int i = 0; i < 1000; ++i) process.run(0.55);
  EXPECT_EQ(process.borrowing.pauses(), 0);
}

class Starved : public testing::TestWithParam<std::tuple<int, int, std::int64_t>> {};

TEST_P(Starved, LosesNextToNothing) {
  const auto [own, offered, length] = GetParam();
  Process process{.own = own, .offered = offered, .work = own * length};
  std::int64_t wall = 0;
  const std::int64_t regions = 30'000 * kMs / length;
  for (std::int64_t i = 0; i < regions; ++i) wall += process.run(0.25);
  EXPECT_GT(process.borrowing.pauses(), 1);
  EXPECT_LT(wall, regions * length * 1.02);
}

INSTANTIATE_TEST_SUITE_P(Teams, Starved,
                         testing::Values(std::tuple{1, 1, 10 * kMs}, std::tuple{4, 1, 10 * kMs},
                                         std::tuple{4, 4, 100 * kMs}, std::tuple{16, 8, 10 * kMs},
                                         std::tuple{1, 1, kMs / 5}));

void begin_five(Borrowing& borrowing, int added, std::int64_t delay, std::int64_t now) {
  for (int i = 0; i < 5; ++i) borrowing.learn_begin(added, delay, now);
}

TEST(Borrowing, AThreadThatDelaysARegionByMoreThanItShortensItDoesNotPay) {
  Borrowing borrowing{decide::Settings{}};
  EXPECT_GE(borrowing.threads_worth(2, 1, 0), 1 << 20) << "not measured yet";
  constexpr std::int64_t kBegin = 28'000;  // ns by thread
  begin_five(borrowing, 14, 14 * kBegin, kMs);
  for (const int own : {1, 2, 6, 64}) {
    for (const double length : {50e3, 200e3, 1e6, 20e6}) {
      const auto time = [&](int n) { return length * own / n + static_cast<double>(kBegin) * (n - own); };
      const int most = borrowing.threads_worth(own, length, kMs);
      for (int n = own; n < 1000; ++n)
        EXPECT_LE(time(std::max(most, own)), time(n) * 1.0001) << own << " " << length << " " << n;
    }
  }
}

TEST(Borrowing, OneDelayAmongOthersIsNotTheRule) {
  Borrowing borrowing{decide::Settings{}};
  for (int i = 0; i < 5; ++i) borrowing.learn_begin(1, i == 3 ? 10 * kMs : kMs / 50, kMs);
  EXPECT_GT(borrowing.threads_worth(1, 200e3, kMs), 2);
}

TEST(Borrowing, OneDelayAloneIsNoMeasurement) {
  Borrowing borrowing{decide::Settings{}};
  borrowing.learn_begin(1, 10 * kMs, kMs);
  EXPECT_GT(borrowing.threads_worth(1, 200e3, kMs), 2);
}

TEST(Borrowing, WhatHasNotBeenMeasuredForASecondIsTriedAgain) {
  Borrowing borrowing{decide::Settings{}};
  begin_five(borrowing, 1, kMs, kMs);
  EXPECT_EQ(borrowing.threads_worth(1, 200e3, 500 * kMs), 1);
  EXPECT_GT(borrowing.threads_worth(1, 200e3, 1100 * kMs), 1);
  begin_five(borrowing, 1, kMs / 100, 1100 * kMs);
  EXPECT_GT(borrowing.threads_worth(1, 200e3, 1100 * kMs), 2) << "the old measurement no longer counts";
}

// One of two regions is held up, tenfold.
TEST(Borrowing, FindsTheHeldUpRegionAmongOthers) {
  Process process;
  for (int i = 0; i < 2000; ++i) process.run(i % 2 == 0 ? 0.1 : 1);
  EXPECT_GT(process.borrowing.pauses(), 1);
  EXPECT_LT(process.now, 2000 * 10 * kMs * 1.02);
}

TEST(Borrowing, BeginsAgainWhenTheCoresAreFree) {
  Process process;
  for (int i = 0; i < 50; ++i) process.run(0.2);
  const int pauses = process.borrowing.pauses();
  EXPECT_GT(pauses, 0);
  for (int i = 0; i < 1000; ++i) process.run(1);
  process.in_borrowed_regions = 0;
  const std::int64_t begin = process.now;
  for (int i = 0; i < 100; ++i) process.run(1);
  EXPECT_EQ(process.in_borrowed_regions, process.now - begin);
  EXPECT_EQ(process.borrowing.pauses(), pauses);
}

// One region in fifty is held up for 10 ms.
TEST(Borrowing, BearsASingleDelay) {
  Process process;
  for (int i = 0; i < 1000; ++i) process.run(i % 50 == 49 ? 0.3 : 1);
  EXPECT_GT(process.held_up_and_measured, 5);
  EXPECT_EQ(process.borrowing.pauses(), 0);
}

struct Uneven {
  const char* what;
  int threads, borrowed;
  std::int64_t own_busy;  // of 10 ms
};

class WithoutDelay : public testing::TestWithParam<Uneven> {};

TEST_P(WithoutDelay, IsNeverALoss) {
  const Uneven region = GetParam();
  Borrowing borrowing({});
  std::int64_t now = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool measured = borrowing.wants_measurement(now, 10 * kMs);
    now += 10 * kMs;
    borrowing.learn({region.threads, region.borrowed, 10 * kMs, region.own_busy, 0, measured}, now);
  }
  EXPECT_EQ(borrowing.pauses(), 0) << region.what;
}

INSTANTIATE_TEST_SUITE_P(Regions, WithoutDelay,
                         testing::Values(Uneven{"the last thread has ten times the iterations", 2, 1, kMs},
                                         Uneven{"the same with two own cores", 3, 1, kMs},
                                         Uneven{"an own thread is the slowest", 5, 1, 9 * kMs},
                                         Uneven{"tasks, which run while the threads wait at the barrier", 2, 1, 0}));

TEST(Borrowing, PausesAsLongAsTheBudgetAsks) {
  const auto borrowed_time = [](double exploration) {
    Process process{.borrowing = Borrowing({.exploration = exploration})};
    for (int i = 0; i < 2000; ++i) process.run(0.2);
    return process.in_borrowed_regions;
  };
  EXPECT_LT(borrowed_time(0.01), borrowed_time(0.2));
  EXPECT_LT(borrowed_time(0), borrowed_time(0.01));
  EXPECT_GT(borrowed_time(0), 0);
}

TEST(Borrowing, IsNeverStoppedWithoutAMeasurement) {
  Process process{.statistics = false};
  for (int i = 0; i < 1000; ++i) process.run(0.1);
  EXPECT_EQ(process.borrowing.pauses(), 0);
}

}  // namespace
}  // namespace steelyard::cores
