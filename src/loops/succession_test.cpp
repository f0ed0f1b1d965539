// SPDX-License-Identifier: BSD-3-Clause
#include "loops/succession.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>

#include "loops/gathering.h"

namespace steelyard::loops {
namespace {

// What stands for loops here.
int a, b, c;

TEST(Succession, TheSameLoopsInTheSameOrderAreLetPassHoweverFarApart) {
  Strangers none;
  Succession succession(2, none);
  const std::array<void*, 3> loops = {&a, &b, &a};
  for (int times = 0; times < 1000; ++times)
    for (void* loop : loops) ASSERT_EQ(succession.begin(0, loop, 1), nullptr);
  for (int times = 0; times < 1000; ++times)
    for (void* loop : loops) ASSERT_EQ(succession.begin(1, loop, 2), nullptr) << times;
}

TEST(Succession, AnotherLoopIsNoticedAndWhatWasLeftOutIsCaughtUpWith) {
  Strangers none;
  Succession succession(2, none);
  EXPECT_EQ(succession.begin(0, &a, 1), nullptr);
  EXPECT_EQ(succession.begin(0, &b, 1), nullptr);
  EXPECT_EQ(succession.begin(0, &c, 1), nullptr);
  EXPECT_EQ(succession.begin(1, &b, 2), &a) << "the first is left out";
  EXPECT_EQ(succession.left_out(1, &b), &b);
  EXPECT_EQ(succession.begin(1, &c, 2), nullptr) << "in step again";
  // What the others have not begun is not caught up with.
  EXPECT_EQ(succession.begin(0, &a, 1), nullptr);
  EXPECT_EQ(succession.begin(1, &b, 2), &a);
  EXPECT_EQ(succession.left_out(1, &b), nullptr);
  EXPECT_EQ(succession.begin(0, &c, 1), nullptr);
  EXPECT_EQ(succession.begin(1, &c, 2), nullptr);
}

TEST(Succession, WhereTeamsLookTheSameNothingIsSaid) {
  Successions successions;
  Succession& succession = successions.of({0, 2, 0});
  EXPECT_EQ(&succession, &successions.of({1, 2, 0}));
  EXPECT_NE(&succession, &successions.of({1, 3, 0}));
  EXPECT_NE(&succession, &successions.of({1, 2, 7}));
  successions.seen({0, 2, 0}, 1);
  successions.seen({0, 3, 0}, 1);
  successions.seen({0, 2, 7}, 2);
  successions.seen({1, 2, 0}, 3);
  EXPECT_EQ(succession.begin(0, &a, 1), nullptr);
  // A worker of a second initial thread is there before that itself, which tells.
  std::thread worker([&] { EXPECT_EQ(succession.begin(1, &b, 2), nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  successions.seen({0, 2, 0}, 4);
  worker.join();
  EXPECT_EQ(succession.begin(0, &b, 1), nullptr);
  EXPECT_EQ(succession.begin(1, &c, 2), nullptr);
}

TEST(Succession, AnotherThreadInOnesPlaceIsOfAnotherTeam) {
  Strangers found;
  Succession succession(2, found);
  EXPECT_EQ(succession.begin(0, &a, 1), nullptr);
  EXPECT_EQ(succession.begin(1, &a, 2), nullptr);
  EXPECT_EQ(succession.begin(1, &b, 4), nullptr) << "the second team's worker, whose first thread is late";
  EXPECT_TRUE(found.here);
  EXPECT_EQ(succession.begin(0, &b, 3), nullptr);
  EXPECT_EQ(succession.begin(1, &c, 2), nullptr);
}

TEST(Succession, ALoopThatIsGoneIsNotNamed) {
  Strangers none;
  Succession succession(2, none);
  EXPECT_EQ(succession.begin(0, &a, 1), nullptr);
  succession.forget(&a);
  EXPECT_EQ(succession.begin(1, &b, 2), nullptr);
}

TEST(Gathering, ThreadsOfATeamInDifferentLoopsAreRefusedAndGoOnTogether) {
  for (const Strategy strategy : {Strategy::even, Strategy::steal}) {
    Successions successions;
    Loop first("first.cpp:1", {strategy, 0.5, 1}), second("second.cpp:2", {strategy, 0.5, 1});
    Gathering one(first, false, successions), two(second, false, successions);
    std::array<std::atomic<int>, 100> runs = {};
    std::atomic<int> refused = 0, begun = 0;
    const auto execute = [&](Gathering& gathering, const openmp::Position& here) {
      Gathering::Seat* seat = nullptr;
      ++begun;
      if (const auto status = gathering.begin(here, 100, seat); !status) {
        EXPECT_NE(status.sentence().find("have begun loop"), std::string::npos) << status.sentence();
        ++refused;
        return;
      }
      for (Chunk chunk; Gathering::member(*seat).next(chunk);)
        for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) ++runs[i];
      Gathering::end(*seat);
    };
    constexpr int kThreads = 3;
    std::barrier all(kThreads);
    // The threads of a team stay the same from region to region.
    const auto regions = [&](int t) {
      const openmp::Position here{t, kThreads, 0};
      const auto region = [&](auto&& body, auto&& look) {
        all.arrive_and_wait();
        if (t == 0) std::ranges::for_each(runs, [](auto& each) { each = 0; });
        all.arrive_and_wait();
        body();
        all.arrive_and_wait();
        if (t == 0) look();
      };
      // Many more times than a team is deep.
      for (int times = 0; times < 30; ++times) {
        region([&] { execute(t % 2 != 0 ? one : two, here); },
               [&] {
                 EXPECT_GE(refused.exchange(0), 1);
                 for (auto& each : runs) EXPECT_LE(each, 1);
               });
      }
      for (int times = 0; times < 10; ++times) {
        region(
            [&] {
              execute(one, here);
              execute(two, here);
              execute(one, here);
            },
            [&] {
              for (auto& each : runs) EXPECT_EQ(each, 3);
            });
      }
    };
    std::vector<std::thread> workers;
    for (int t = 1; t < kThreads; ++t) workers.emplace_back(regions, t);
    regions(0);
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(refused, 0) << "mistakes of the past are no mistakes";
  }
}

TEST(Gathering, TwoInitialThreadsMayHaveTeamsOfOneSize) {
  Successions successions;
  Loop first("first"), second("second");
  Gathering one(first, false, successions), two(second, false, successions);
  std::vector<std::thread> threads;
  std::array<std::atomic<std::uint64_t>, 2> iterations = {};
  for (int initial = 0; initial < 2; ++initial)
    for (int t = 1; t >= 0; --t)  // the workers are there first
      threads.emplace_back([&, initial, t] {
        for (int times = 0; times < 50; ++times) {
          Gathering::Seat* seat = nullptr;
          const auto status = (initial == 0 ? one : two).begin({t, 2, 0}, 10, seat);
          ASSERT_TRUE(status) << status.sentence();
          for (Chunk chunk; Gathering::member(*seat).next(chunk);)
            iterations[static_cast<std::size_t>(initial)] += chunk.end - chunk.begin;
          Gathering::end(*seat);
        }
      });
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : iterations) EXPECT_EQ(each, 500U);
}

}  // namespace
}  // namespace steelyard::loops
