// SPDX-License-Identifier: BSD-3-Clause
#include "loops/victims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <set>
#include <thread>

#include "loops/places.h"
#include "loops/team.h"
#include "node/binding.h"

namespace steelyard::loops {
namespace {

using Cpus = node::CpuSet;

/// A machine that is not here, and threads that are bound to it.
class Victims : public testing::Test {
 protected:
  void machine(const char* synthetic) {
    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    topology_ = node::discover();
    unsetenv("HWLOC_SYNTHETIC");
    ASSERT_TRUE(topology_.emulated);
    know_machine(topology_);
  }
  void TearDown() override { node::note_binding({}); }

  Cpus everywhere() const {
    Cpus all;
    for (const node::Pu& pu : topology_.pus) all.add(pu.os_index);
    return all;
  }
  std::vector<Cpus> one_each(int threads) const {
    std::vector<Cpus> cpus;
    for (int t = 0; t < threads; ++t)
      cpus.push_back({topology_.pus[static_cast<std::size_t>(t) % topology_.pus.size()].os_index});
    return cpus;
  }
  const node::Pu& pu_of(int thread) const {
    return topology_.pus[static_cast<std::size_t>(thread) % topology_.pus.size()];
  }

  /// The victims of `thief`, one after the other, if no other thread executes its own part. `bound`: by thread.
  std::vector<int> robbed(Team& team, int thief, const std::vector<Cpus>& bound) {
    constexpr std::uint64_t kEach = 8;
    const int threads = team.threads();
    for (int t = 0; t < threads; ++t) {
      node::note_binding(bound[static_cast<std::size_t>(t)]);
      EXPECT_TRUE(team.member(t).begin(loop_, kEach * static_cast<std::uint64_t>(threads)));
    }
    std::vector<int> victims;
    for (Chunk chunk; team.member(thief).next(chunk);) {
      const int owner = static_cast<int>(chunk.begin / kEach);
      if (owner != thief && std::ranges::find(victims, owner) == victims.end()) victims.push_back(owner);
    }
    for (int t = 0; t < threads; ++t) team.member(t).end();
    EXPECT_EQ(static_cast<int>(victims.size()), threads - 1) << "each of the others";
    return victims;
  }

  node::Topology topology_;
  Loop loop_{"test", {Strategy::steal, 0, 1}};
};

/// Around the ring: where nothing is known.
std::vector<int> by_number(int thief, int threads) {
  std::vector<int> victims;
  for (int i = 0; i + 1 < threads; ++i) {
    const int distance = i / 2 + 1;
    victims.push_back((thief + (i % 2 == 0 ? distance : threads - distance)) % threads);
  }
  return victims;
}

TEST_F(Victims, TheNearestComeFirst) {
  machine("package:2 numa:2 core:4 pu:1");
  Team team(16);
  const std::vector<Cpus> bound = one_each(16);
  std::set<int> first, first_in_package, first_elsewhere;
  for (int thief = 0; thief < 16; ++thief) {
    const std::vector<int> victims = robbed(team, thief, bound);
    const node::Pu& mine = pu_of(thief);
    for (std::size_t i = 0; i < victims.size(); ++i) {
      const node::Pu& its = pu_of(victims[i]);
      ASSERT_EQ(its.numa == mine.numa, i < 3) << thief << " robs " << victims[i] << " as number " << i;
      ASSERT_EQ(its.package == mine.package, i < 7) << thief << " robs " << victims[i] << " as number " << i;
    }
    first.insert(victims[0]);
    first_in_package.insert(victims[3]);
    first_elsewhere.insert(victims[7]);
  }
  // Of equally near ones each thief begins with another.
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(first_in_package.size(), 16U);
  EXPECT_EQ(first_elsewhere.size(), 16U);
}

TEST_F(Victims, NumbersThatLieAcrossTheMachineAreNoNearness) {
  machine("package:2 numa:2 core:4 pu:1");
  Team team(8);
  std::vector<Cpus> bound;
  for (int t = 0; t < 8; ++t) bound.push_back({t % 4 * 4 + t / 4});  // the next thread is in the next domain
  std::set<int> first;
  for (int thief = 0; thief < 8; ++thief) {
    const int victim = robbed(team, thief, bound).front();
    EXPECT_EQ(victim, (thief + 4) % 8) << "of " << thief;
    first.insert(victim);
  }
  EXPECT_EQ(first.size(), 8U);
}

TEST_F(Victims, ThreadsOfOneCoreAreNearest) {
  machine("package:2 core:3 pu:2");
  Team team(12);
  std::set<int> second;
  for (int thief = 0; thief < 12; ++thief) {
    const std::vector<int> victims = robbed(team, thief, one_each(12));
    EXPECT_EQ(victims[0], thief ^ 1);
    EXPECT_EQ(pu_of(victims[1]).package, pu_of(thief).package);
    second.insert(victims[1]);
  }
  EXPECT_EQ(second.size(), 12U);
}

TEST_F(Victims, MoreThreadsThanCpusShareThem) {
  machine("package:2 numa:2 core:4 pu:1");
  Team team(20);
  EXPECT_EQ(robbed(team, 16, one_each(20)).front(), 0);
  EXPECT_EQ(robbed(team, 1, one_each(20)).front(), 17);
  const std::vector<int> victims = robbed(team, 9, one_each(20));
  EXPECT_EQ(std::set<int>(victims.begin(), victims.begin() + 3), (std::set<int>{8, 10, 11}));
}

TEST_F(Victims, ThreadsThatAreNotBoundGoByNumber) {
  machine("package:2 numa:2 core:4 pu:1");
  Team team(6);
  std::vector<Cpus> bound(6, everywhere());
  for (int thief = 0; thief < 6; ++thief) EXPECT_EQ(robbed(team, thief, bound), by_number(thief, 6));
  // All in one domain: no thread is nearer.
  std::fill(bound.begin(), bound.end(), Cpus{4, 5, 6, 7});
  EXPECT_EQ(robbed(team, 2, bound), by_number(2, 6));
  // One of them is known to be near, of another nothing is known.
  bound = {{0}, everywhere(), {15}, {12, 13, 14, 15}, {8}, {1}};
  EXPECT_EQ(robbed(team, 1, bound), by_number(1, 6));
  const std::vector<int> victims = robbed(team, 2, bound);
  EXPECT_EQ((std::vector<int>{victims[0], victims[1]}), (std::vector<int>{3, 4}));
  EXPECT_EQ(robbed(team, 0, bound).front(), 5);
}

TEST_F(Victims, AThreadThatMovesIsNearToOthersFromTheNextLoopOn) {
  machine("package:2 numa:2 core:4 pu:1");
  Team team(4);
  std::vector<Cpus> bound = {{0}, {1}, {8}, {9}};
  EXPECT_EQ(robbed(team, 0, bound).front(), 1);
  bound = {{0}, {10}, {1}, {9}};
  EXPECT_EQ(robbed(team, 0, bound).front(), 2);
  EXPECT_EQ(robbed(team, 1, bound).front(), 3);
  // Set free, and still on the same CPU: that is noticed after a while.
  bound[2] = {1, 12};
  EXPECT_EQ(robbed(team, 0, bound).front(), 2);
  for (int times = 0; times < 256; ++times) robbed(team, 0, bound);
  EXPECT_EQ(robbed(team, 0, bound).back(), 2);
}

TEST_F(Victims, ThreadsMoveWhileOthersRob) {
  machine("package:2 numa:2 core:4 pu:1");
  constexpr int kThreads = 5, kLoops = 300;
  constexpr std::uint64_t kCount = 200;
  Team team(kThreads);
  std::vector<std::atomic<int>> runs(kCount);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int loop = 0; loop < kLoops; ++loop) {
        node::note_binding({(t * 3 + loop / (t + 1)) % 16});
        ASSERT_TRUE(team.member(t).begin(loop_, kCount));
        for (Chunk chunk; team.member(t).next(chunk);) {
          for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) ++runs[i];
          if (chunk.begin % 8 == 0) std::this_thread::yield();
        }
        team.member(t).end();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : runs) ASSERT_EQ(each, kLoops);
}

TEST(Places, WhatAThreadMayLeaveIsNotItsPlace) {
  const Place here = place_of(0, 1, 1, 5), there = place_of(0, 1, 1, 6), far = place_of(1, 2, 2, 9);
  EXPECT_EQ(common(here, here), here);
  EXPECT_EQ(common(here, there), here & ~Place{0xffff});
  EXPECT_EQ(common(here, far), 0U);
  EXPECT_TRUE(nearest_first(0, std::vector<Place>{0, here, there}).empty());
  EXPECT_TRUE(nearest_first(1, std::vector<Place>(3, here)).empty());
  EXPECT_EQ(nearest_first(2, std::vector<Place>{far, here, there, 0}), (std::vector<std::uint16_t>{1, 3, 0}));
}

}  // namespace
}  // namespace steelyard::loops
