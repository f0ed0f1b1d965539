// SPDX-License-Identifier: BSD-3-Clause
#include "loops/virtual_team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace steelyard::loops {
namespace {

using testing::Each;

std::vector<int> all_of(VirtualTeam& team, int thread) {
  std::vector<int> numbers;
  while (const auto number = team.next(thread)) numbers.push_back(*number);
  return numbers;
}

TEST(VirtualTeam, GivesEachThreadABlockOfNeighbours) {
  VirtualTeam team;
  team.begin(6, 2);
  EXPECT_EQ(team.next(0), 0);
  EXPECT_EQ(team.next(1), 3);
  EXPECT_EQ(team.next(0), 1);
  EXPECT_EQ(team.next(1), 4);
}

TEST(VirtualTeam, TakesFromTheEndOfTheFullestBlockWhenTheOwnIsEmpty) {
  VirtualTeam team;
  team.begin(9, 3);
  for (int n = 0; n < 3; ++n) team.next(0);
  team.next(1);
  EXPECT_EQ(team.next(0), 8) << "thread 2 has three left, thread 1 two";
}

TEST(VirtualTeam, RunsAllWhereFewerThreadsCome) {
  VirtualTeam team;
  team.begin(8, 4);
  EXPECT_EQ(all_of(team, 0).size(), 8u);
  EXPECT_EQ(team.next(3), std::nullopt);
}

TEST(VirtualTeam, ServesThreadsThatWereNotExpected) {
  VirtualTeam team;
  team.begin(4, 2);
  EXPECT_THAT(all_of(team, 100), testing::UnorderedElementsAre(0, 1, 2, 3));
}

TEST(VirtualTeam, HasFewerVirtualThreadsThanThreads) {
  VirtualTeam team;
  team.begin(1, 3);
  EXPECT_EQ(team.next(0), 0);
  EXPECT_EQ(team.next(2), std::nullopt);
}

TEST(VirtualTeam, HasAtMostSoManyBlocks) {
  VirtualTeam team;
  team.begin(1000, 500);
  EXPECT_EQ(all_of(team, 499).size(), 1000u);
}

TEST(VirtualTeam, RunsEachOnceAndBeginsAgain) {
  constexpr int threads = 4, size = 1000;
  VirtualTeam team;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::atomic<int>> runs(size);
    team.begin(size, threads);
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&, thread] {
        while (const auto number = team.next(thread)) ++runs[static_cast<std::size_t>(*number)];
      });
    }
    for (std::thread& worker : workers) worker.join();
    EXPECT_THAT(std::vector<int>(runs.begin(), runs.end()), Each(1));
  }
}

}  // namespace
}  // namespace steelyard::loops
