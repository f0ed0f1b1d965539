// SPDX-License-Identifier: BSD-3-Clause
#include "wait/sleep.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/clock.h"

namespace steelyard::wait {
namespace {

constexpr std::int64_t kLong = 60'000'000'000;  // ns: far beyond the time limit of a wake-up

TEST(Sleep, LastsAtLeastAsLongAsAsked) {
  for (const std::int64_t ns : {5'000, 1'000'000}) {
    const std::int64_t begin = base::now_ns();
    sleep_for(ns);
    EXPECT_GE(base::now_ns() - begin, ns);
  }
}

TEST(Sleep, EndsAfterItsBoundWithoutAWakeUp) {
  std::atomic<std::uint32_t> word{7};
  const std::int64_t begin = base::now_ns();
  EXPECT_FALSE(sleep_on(word, 7, 2'000'000));
  EXPECT_GE(base::now_ns() - begin, 2'000'000);
}

TEST(Sleep, DoesNotBeginOnAnotherValue) {
  std::atomic<std::uint32_t> word{7};
  EXPECT_FALSE(sleep_on(word, 6, kForever));
}

TEST(Sleep, WakesNobodyWhereNobodySleeps) {
  std::atomic<std::uint32_t> word{7};
  EXPECT_EQ(wake(word, 3), 0);
}

TEST(Sleep, WakesAsManyAsAsked) {
  constexpr int kThreads = 5;
  std::atomic<std::uint32_t> word{0};
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&] { woken += sleep_on(word, 0, kLong) ? 1 : 0; });
  int counted = 0;
  while (counted < 2) counted += wake(word, 1);  // the word keeps its value: a thread that is not asleep yet will be
  while (woken < 2) yield();
  EXPECT_EQ(woken, 2);
  while (counted < kThreads) {
    const int now = wake(word, 2);
    EXPECT_LE(now, 2);
    counted += now;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, kThreads);
}

// One thread changes the word and then wakes; another one reads it and then sleeps. Whatever the interleaving, no
// change is slept through.
TEST(Sleep, MissesNoChange) {
  constexpr std::uint32_t kChanges = 20'000;
  std::atomic<std::uint32_t> word{0}, seen{0};
  std::thread changer([&] {
    for (std::uint32_t change = 1; change <= kChanges; ++change) {
      word.store(change);
      wake_all(word);
      while (seen.load() != change) yield();
    }
  });
  for (std::uint32_t known = 0; known < kChanges;) {
    while (word.load() == known) sleep_on(word, known, kForever);
    seen.store(known = word.load());
  }
  changer.join();
}

}  // namespace
}  // namespace steelyard::wait
