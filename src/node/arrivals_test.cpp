// SPDX-License-Identifier: BSD-3-Clause
#include "node/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "base/clock.h"
#include "wait/sleep.h"

namespace steelyard::node {
namespace {

struct Node {
  explicit Node(int processes, int cpus = 2) : bytes(Arrivals::footprint(processes)), memory(bytes + 64) {
    for (int p = 0; p < processes; ++p) {
      void* place = memory.data();
      std::size_t space = memory.size();
      segments.push_back(Segment::over(std::align(64, bytes, place, space), bytes));
      arrivals.push_back(std::make_unique<Arrivals>(*segments.back(), processes, p, cpus));
    }
  }
  std::vector<Arrivals::Group*> follow_all(std::uint64_t hash) {
    std::vector<int> all(arrivals.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Arrivals::Group*> groups;
    for (auto& process : arrivals) groups.push_back(process->follow(hash, all, all));
    return groups;
  }
  bool arrive(int process, const std::vector<Arrivals::Group*>& groups, bool wakes_if_last = false) {
    arrivals[process]->arrive(*groups[process], ++now);
    return arrivals[process]->wake(*groups[process], wakes_if_last);
  }

  std::atomic<std::int64_t> now{0};
  std::size_t bytes;
  std::vector<unsigned char> memory;
  std::vector<std::unique_ptr<Segment>> segments;
  std::vector<std::unique_ptr<Arrivals>> arrivals;
};

TEST(Arrivals, TellsWhoIsMissing) {
  Node node(3);
  const auto groups = node.follow_all(1);
  node.arrive(1, groups);
  EXPECT_EQ(node.arrivals[1]->missing(*groups[1]), 0);
  node.arrive(0, groups);
  EXPECT_EQ(node.arrivals[1]->missing(*groups[1]), 2);
  node.arrive(2, groups);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(node.arrivals[p]->missing(*groups[p]), -1);
}

TEST(Arrivals, TheLastIsKnownAfterwards) {
  Node node(3);
  const auto groups = node.follow_all(1);
  for (int round = 0; round < 3 * Arrivals::kRemembered; ++round) {
    const int late = round % 3;
    node.arrive((late + 1) % 3, groups);
    node.arrive((late + 2) % 3, groups);
    EXPECT_EQ(node.arrivals[(late + 1) % 3]->last(*groups[(late + 1) % 3]), -1);
    node.arrive(late, groups);
    for (int p = 0; p < 3; ++p) EXPECT_EQ(node.arrivals[p]->last(*groups[p]), late);
  }
}

TEST(Arrivals, TheLastIsForgottenWhenOthersAreFarAhead) {
  Node node(2);
  const auto groups = node.follow_all(1);
  node.arrive(0, groups);
  for (int i = 0; i < Arrivals::kRemembered - 1; ++i) {
    node.arrive(1, groups);
    EXPECT_EQ(node.arrivals[0]->last(*groups[0]), 1);
  }
  node.arrive(1, groups);
  EXPECT_EQ(node.arrivals[0]->last(*groups[0]), -1);
}

TEST(Arrivals, OneThatIsAheadIsNotMissing) {
  Node node(2);
  const auto groups = node.follow_all(1);
  for (int i = 0; i < 3; ++i) node.arrive(1, groups);
  node.arrive(0, groups);
  EXPECT_EQ(node.arrivals[0]->missing(*groups[0]), -1);
  EXPECT_EQ(node.arrivals[1]->missing(*groups[1]), 0);
}

TEST(Arrivals, CommunicatorsOfTheSameMembersAreKeptApart) {
  Node node(2);
  const auto first = node.follow_all(7);
  const auto second = node.follow_all(7);
  EXPECT_NE(first[0]->slot, second[0]->slot);
  EXPECT_EQ(first[0]->slot, first[1]->slot);
  EXPECT_EQ(second[0]->slot, second[1]->slot);
  node.arrive(0, first);
  node.arrive(1, second);
  EXPECT_EQ(node.arrivals[0]->missing(*first[0]), 1);
}

TEST(Arrivals, AFreedSlotIsUsedAgainAndStartsAtZero) {
  Node node(2);
  for (int round = 0; round < 3 * Arrivals::kGroups; ++round) {
    const auto groups = node.follow_all(static_cast<std::uint64_t>(round));
    ASSERT_NE(groups[0], nullptr);
    ASSERT_NE(groups[1], nullptr);
    node.arrive(0, groups);
    EXPECT_EQ(node.arrivals[0]->missing(*groups[0]), 1);
    node.arrivals[0]->forget(groups[0]);
    node.arrivals[1]->forget(groups[1]);
  }
}

TEST(Arrivals, AFullTableFollowsNoMore) {
  Node node(2);
  for (int i = 0; i < Arrivals::kGroups; ++i) ASSERT_NE(node.follow_all(static_cast<std::uint64_t>(i))[0], nullptr);
  EXPECT_EQ(node.follow_all(1000)[0], nullptr);
}

TEST(Arrivals, TheLastOneWakesTheSleepers) {
  Node node(2);
  const auto groups = node.follow_all(1);
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    node.arrive(1, groups);
  });
  node.arrive(0, groups);
  int sleeps = 0;
  const auto all_there = [&] { return node.arrivals[0]->missing(*groups[0]) < 0; };
  for (; !all_there(); ++sleeps) node.arrivals[0]->sleep(*groups[0], 60'000'000'000, all_there);
  late.join();
  EXPECT_LE(sleeps, 2) << "it was woken, not timed out";
}

// Every process must see every other at each of its collectives, whatever the timing.
TEST(Arrivals, OnlyTheLastWakesMembersThatWaitForAll) {
  Node node(3);
  const auto groups = node.follow_all(1);
  node.arrive(0, groups);
  std::atomic<bool> over{false};
  std::thread sleeper([&] { node.arrivals[0]->sleep(*groups[0], 60'000'000'000, [&] { return over.load(); }); });
  while (!node.arrivals[1]->watched(*groups[1])) wait::sleep_for(100'000);
  EXPECT_FALSE(node.arrive(1, groups, true));
  over = true;
  EXPECT_TRUE(node.arrive(2, groups, true));
  sleeper.join();
}

TEST(Arrivals, NobodyGoesOnAloneAndNobodyIsLeftBehind) {
  constexpr int kProcesses = 4, kRounds = 2000;
  Node node(kProcesses);
  const auto groups = node.follow_all(1);
  std::vector<std::atomic<int>> round(kProcesses);
  std::atomic<int> early{0};
  std::vector<std::thread> threads;
  for (int p = 0; p < kProcesses; ++p) {
    threads.emplace_back([&, p] {
      std::mt19937 random(static_cast<unsigned>(p));
      for (int r = 1; r <= kRounds; ++r) {
        if (random() % 8 == 0) std::this_thread::yield();
        round[p] = r;
        node.arrive(p, groups);
        const auto all_there = [&] { return node.arrivals[p]->missing(*groups[p]) < 0; };
        while (!all_there()) node.arrivals[p]->sleep(*groups[p], 60'000'000'000, all_there);
        for (int other = 0; other < kProcesses; ++other) early += round[other] < r;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(early, 0);
}

// A member that is woken wakes the next one, while others arrive, run ahead, wait for one member only, or wake up by
// their time limit. A wake-up that is lost on the way leaves a member asleep until its bound, which is far beyond.
class ChainOfWakeUps : public testing::TestWithParam<int> {};

TEST_P(ChainOfWakeUps, LeavesNobodyAsleep) {
  constexpr int kProcesses = 8, kRounds = 1500;
  constexpr std::int64_t kBound = 3'000'000'000;  // ns
  Node node(kProcesses, GetParam());
  const auto groups = node.follow_all(1);
  std::atomic<int> left_asleep{0}, slept{0};
  std::vector<std::thread> threads;
  for (int p = 0; p < kProcesses; ++p) {
    threads.emplace_back([&, p] {
      std::mt19937 own(static_cast<unsigned>(p)), same(1);
      const node::Arrivals::Group& group = *groups[p];
      for (int r = 0; r < kRounds && left_asleep == 0; ++r) {
        const int late = static_cast<int>(same() % kProcesses), feeder = static_cast<int>(same() % kProcesses);
        const unsigned kind = same() % 4;
        if (p == late) wait::sleep_for(static_cast<std::int64_t>(own() % 200'000));  // so that the others are asleep
        node.arrive(p, groups, kind != 0);
        const auto over = [&] {
          if (kind == 0) return node.arrivals[p]->here(group, feeder);
          return node.arrivals[p]->missing(group) < 0;
        };
        if (kind == 1 && p % 2 == 0) continue;  // goes ahead
        while (!over() && left_asleep == 0) {
          const bool short_sleep = own() % 8 == 0;
          const std::int64_t begin = base::now_ns();
          node.arrivals[p]->sleep(group, short_sleep ? 1'000 : kBound, over);
          ++slept;
          if (base::now_ns() - begin >= kBound) ++left_asleep;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left_asleep, 0);
  EXPECT_GT(slept, kRounds) << "the members did not sleep: this test has shown nothing";
}

INSTANTIATE_TEST_SUITE_P(Cpus, ChainOfWakeUps, testing::Values(1, 3, 64));

TEST(Arrivals, ABarrierEndsHereOnlyOnceAllHaveArrivedAtIt) {
  Node node(2);
  const auto groups = node.follow_all(1);
  const auto arrive = [&](int process, bool may_end) { node.arrivals[process]->arrive(*groups[process], 1, may_end); };
  const auto ends = [&](int process) { return node.arrivals[process]->ends_here(*groups[process]); };
  arrive(0, true);
  EXPECT_FALSE(ends(0));  // too early, and so for the other one
  arrive(1, true);
  EXPECT_FALSE(ends(1));
  arrive(0, true);
  arrive(1, true);
  EXPECT_TRUE(ends(1));
  arrive(1, true);  // goes on, and asks too early at the next one
  EXPECT_FALSE(ends(1));
  EXPECT_TRUE(ends(0));
  arrive(0, true);
  EXPECT_FALSE(ends(0));
  arrive(0, true);
  arrive(1, false);
  EXPECT_FALSE(ends(0));
}

TEST(Arrivals, AMissedCollectiveNeverEndsABarrier) {
  Node node(2);
  const auto groups = node.follow_all(1);
  // One process has missed a collective: its counts are those of the other's last but one.
  node.arrivals[1]->arrive(*groups[1], 1);
  for (int round = 0; round < 10; ++round) {
    for (int process = 0; process < 2; ++process) node.arrivals[process]->arrive(*groups[process], 1, true);
    for (int process = 0; process < 2; ++process) EXPECT_FALSE(node.arrivals[process]->ends_here(*groups[process]));
  }
}

// Threads play processes. A barrier that does not end here ends in one that plays the library's: a hang, or a process
// that goes on before all have arrived, would be a wrong answer.
TEST(Arrivals, AllGetTheSameAnswerAtEachBarrier) {
  constexpr int processes = 4, rounds = 600;
  Node node(processes);
  const auto groups = node.follow_all(1);
  std::barrier library(processes);
  std::vector<std::atomic<int>> reached(rounds);
  std::vector<std::vector<char>> answers(processes);
  std::vector<std::thread> threads;
  for (int p = 0; p < processes; ++p) {
    threads.emplace_back([&, p] {
      std::mt19937 dice(static_cast<unsigned>(p)), same(1);
      node::Arrivals& arrivals = *node.arrivals[p];
      for (int round = 0; round < rounds; ++round) {
        for (unsigned others = same() % 3; others > 0; --others) arrivals.arrive(*groups[p], 1);
        const bool may_end = dice() % 32 != 0;
        ++reached[round];  // before others can see this arrival
        arrivals.arrive(*groups[p], 1, may_end);
        for (unsigned looks = dice() % 64; looks > 0 && arrivals.missing(*groups[p]) >= 0; --looks) {
          std::this_thread::yield();
        }
        const bool ends = may_end && arrivals.ends_here(*groups[p]);
        answers[p].push_back(static_cast<char>(ends));
        if (!ends) library.arrive_and_wait();
        EXPECT_EQ(reached[round], processes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int p = 1; p < processes; ++p) EXPECT_EQ(answers[p], answers[0]);
  EXPECT_NE(std::ranges::count(answers[0], 1), 0);
  EXPECT_NE(std::ranges::count(answers[0], 0), 0);
}

}  // namespace
}  // namespace steelyard::node
