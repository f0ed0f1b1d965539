#include "loops/succession.h"

#include <gtest/gtest.h>

#include <array>
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
    for (void* loop : loops) ASSERT_EQ(succession.begin(0, loop), nullptr);
  for (int times = 0; times < 1000; ++times)
    for (void* loop : loops) ASSERT_EQ(succession.begin(1, loop), nullptr) << times;
}

TEST(Succession, AnotherLoopIsNoticedAndWhatWasLeftOutIsCaughtUpWith) {
  Strangers none;
  Succession succession(2, none);
  EXPECT_EQ(succession.begin(0, &a), nullptr);
  EXPECT_EQ(succession.begin(0, &b), nullptr);
  EXPECT_EQ(succession.begin(0, &c), nullptr);
  EXPECT_EQ(succession.begin(1, &b), &a) << "the first is left out";
  EXPECT_EQ(succession.left_out(1, &b), &b);
  EXPECT_EQ(succession.begin(1, &c), nullptr) << "in step again";
  // What the others have not begun is not caught up with.
  EXPECT_EQ(succession.begin(0, &a), nullptr);
  EXPECT_EQ(succession.begin(1, &b), &a);
  EXPECT_EQ(succession.left_out(1, &b), nullptr);
  EXPECT_EQ(succession.begin(0, &c), nullptr);
  EXPECT_EQ(succession.begin(1, &c), nullptr);
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
  EXPECT_EQ(succession.begin(0, &a), nullptr);
  // A worker of a second initial thread is there before that itself, which tells.
  std::thread worker([&] { EXPECT_EQ(succession.begin(1, &b), nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  successions.seen({0, 2, 0}, 4);
  worker.join();
  EXPECT_EQ(succession.begin(0, &b), nullptr);
  EXPECT_EQ(succession.begin(1, &c), nullptr);
}

TEST(Succession, ALoopThatIsGoneIsNotNamed) {
  Strangers none;
  Succession succession(2, none);
  EXPECT_EQ(succession.begin(0, &a), nullptr);
  succession.forget(&a);
  EXPECT_EQ(succession.begin(1, &b), nullptr);
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
        EXPECT_NE(status.sentence().find("in its place"), std::string::npos) << status.sentence();
        ++refused;
        return;
      }
      for (Chunk chunk; Gathering::member(*seat).next(chunk);)
        for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) ++runs[i];
      Gathering::end(*seat);
    };
    constexpr int kThreads = 3;
    const auto region = [&](auto&& body) {
      for (auto& each : runs) each = 0;
      std::vector<std::thread> workers;
      for (int t = 1; t < kThreads; ++t) workers.emplace_back([&, t] { body(openmp::Position{t, kThreads, 0}); });
      body(openmp::Position{0, kThreads, 0});
      for (std::thread& worker : workers) worker.join();
    };
    // Many more times than a team is deep.
    for (int times = 0; times < 30; ++times) {
      refused = 0;
      region([&](const openmp::Position& here) { execute(here.thread % 2 != 0 ? one : two, here); });
      EXPECT_GE(refused, 1);
      for (auto& each : runs) EXPECT_LE(each, 1);
    }
    refused = 0;
    for (int times = 0; times < 10; ++times) {
      region([&](const openmp::Position& here) {
        execute(one, here);
        execute(two, here);
        execute(one, here);
      });
      for (auto& each : runs) EXPECT_EQ(each, 3);
    }
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
