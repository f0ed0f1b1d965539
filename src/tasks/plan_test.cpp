// SPDX-License-Identifier: BSD-3-Clause
// The planning half of `tasks`: overlay, routes, amounts, rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tasks/plan.h"
#include "tasks/policies/policies.h"
#include "tasks/routes.h"
#include "tasks/small_world.h"

namespace steelyard::tasks {
namespace {

bool are_linked(const Overlay& overlay, std::int64_t one, std::int64_t other) {
  return std::ranges::count(overlay.neighbours(one), other) == 1;
}

/// The overlay of a policy.
std::unique_ptr<Overlay> overlay_of(const char* policy, std::int64_t vertices) {
  return policy_named(policy, 0)->overlay(vertices, 0);
}

TEST(Overlay, IsSymmetricConnectedAndBounded) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 16, 17, 64, 100, 255, 1000, 3584}) {
    for (const int degree : {0, 2, 3, 6, 10}) {
      const SmallWorld overlay(n, degree);
      for (std::int64_t v = 0; v < n; v += 1 + n / 50) {
        const auto neighbours = overlay.neighbours(v);
        EXPECT_EQ(std::set(neighbours.begin(), neighbours.end()).size(), neighbours.size()) << n << " " << v;
        EXPECT_LE(neighbours.size(),
                  static_cast<std::size_t>(std::max(2, degree > 0 ? degree : SmallWorld::default_degree(n))));
        std::set<std::int64_t> slots;
        for (const std::int64_t other : neighbours) {
          EXPECT_TRUE(are_linked(overlay, other, v));
          EXPECT_TRUE(slots.insert(overlay.slot(v, other)).second) << n << ": two links share a slot";
        }
      }
    }
  }
}

TEST(Overlay, GreedyRoutesArriveOverLinksAndComeNearerWithEachHop) {
  std::mt19937_64 dice(7);
  for (const char* policy : {"small-world", "random", "master"}) {
    for (const std::int64_t n : {2, 3, 10, 97, 1000}) {
      const auto made = overlay_of(policy, n);
      const Overlay& overlay = *made;
      for (int i = 0; i < 300; ++i) {
        const auto from = static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(n));
        const auto to = static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(n));
        int hops = 0;
        for (std::int64_t at = from; at != to; ++hops) {
          const std::int64_t next = overlay.next(at, to);
          ASSERT_TRUE(are_linked(overlay, at, next));
          ASSERT_LT(overlay.hops(next, to), overlay.hops(at, to));
          at = next;
        }
        EXPECT_EQ(hops, overlay.hops(from, to));
      }
    }
  }
}

// The paper: mean 2.87, at most 6.
TEST(Overlay, RoutesOnTenThousandNodesOfDegree64) {
  const SmallWorld overlay(10'000, 64);
  EXPECT_LE(overlay.neighbours(1234).size(), 64u);
  double sum = 0;
  int longest = 0;
  // It looks the same from everywhere.
  for (std::int64_t to = 0; to < overlay.size(); ++to) {
    sum += overlay.hops(77, to);
    longest = std::max(longest, overlay.hops(77, to));
  }
  const double mean = sum / static_cast<double>(overlay.size() - 1);
  RecordProperty("mean_hops", std::to_string(mean));
  EXPECT_LE(mean, 2.87);
  EXPECT_LE(longest, 6);
}

TEST(Overlay, TreeReachesEveryNodeInAsManyStepsAsRoutesHave) {
  for (const char* policy : {"small-world", "random", "master"}) {
    for (const std::int64_t n : {1, 2, 5, 33, 500}) {
      const auto made = overlay_of(policy, n);
      const Overlay& overlay = *made;
      std::set<std::int64_t> reached{0};
      std::vector<std::int64_t> level{0};
      while (!level.empty()) {
        std::vector<std::int64_t> below;
        for (const std::int64_t vertex : level) {
          for (const std::int64_t child : overlay.neighbours(vertex)) {
            if (child == 0 || overlay.parent(child) != vertex) continue;
            EXPECT_TRUE(reached.insert(child).second);
            below.push_back(child);
          }
        }
        level = below;
      }
      EXPECT_EQ(reached.size(), static_cast<std::size_t>(n));
    }
  }
}

TEST(Overlay, AMillionNodesCostAMillionthEach) {
  const SmallWorld overlay(1'000'000);
  EXPECT_LE(overlay.neighbours(999'999).size(), 80u);
  std::mt19937_64 dice(3);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LE(
        overlay.hops(static_cast<std::int64_t>(dice() % 1'000'000), static_cast<std::int64_t>(dice() % 1'000'000)), 5);
  }
}

void check(const RankPlacement& placement, int ranks) {
  const Routes routes(placement, std::make_unique<SmallWorld>(placement.nodes(), 4));
  int children = 0, reporters = 0;
  std::size_t links = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(placement.rank(placement.node(rank), placement.local(rank)), rank);
    const Routes::Duties duties = routes.duties(rank);
    children += static_cast<int>(duties.children.size());
    reporters += duties.reports ? 1 : 0;
    links += duties.peers.size();
    for (const int peer : duties.peers) {
      const auto back = routes.duties(peer).peers;
      EXPECT_TRUE(std::count(back.begin(), back.end(), rank) >= 1) << rank << " and " << peer;
    }
    for (int owner = 0; owner < ranks; ++owner) {
      if (owner == rank) continue;
      // Each transfer is to a process of the same node, or over a link that this one serves.
      int at = rank, transfers = 0;
      const Routes::Way way = routes.way(rank, owner);
      EXPECT_EQ(way.rank, routes.next(rank, owner));
      while (at != owner) {
        const int next = routes.next(at, owner);
        if (placement.node(next) != placement.node(at)) {
          const auto peers = routes.duties(at).peers;
          EXPECT_TRUE(std::count(peers.begin(), peers.end(), next) >= 1);
        }
        at = next;
        ASSERT_LT(++transfers, 3 * ranks);
      }
      EXPECT_EQ(way.further, transfers - 1);
    }
  }
  EXPECT_EQ(children, placement.nodes() - 1);
  EXPECT_EQ(reporters, placement.nodes());
  std::size_t links_of_nodes = 0;
  for (int node = 0; node < placement.nodes(); ++node) links_of_nodes += routes.overlay().neighbours(node).size();
  EXPECT_EQ(links, links_of_nodes);
}

TEST(Routes, LeadFromEveryProcessToEveryOther) {
  for (const int a_node : {1, 2, 3, 5}) {
    for (const int ranks : {1, 2, 7, 16, 23}) check(RankPlacement(ranks, a_node, {}), ranks);
  }
  check(RankPlacement(7, 3, {0, 1, 0, 1, 2, 0, 1}), 7);  // round robin, uneven
}

TEST(Amount, LeavesVictimAndThievesAlike) {
  EXPECT_EQ(amount_to_give(0, 1, 0), 0u);
  EXPECT_EQ(amount_to_give(1, 5, 0), 1u);
  EXPECT_EQ(amount_to_give(10, 1, 0), 5u);
  EXPECT_EQ(amount_to_give(10, 4, 0), 2u);
  EXPECT_EQ(amount_to_give(10, 4, 0.5), 5u);
  EXPECT_EQ(amount_to_give(3, 4, 1), 3u);
  EXPECT_EQ(amount_to_give(3, 0, 0.001), 1u);
  for (std::size_t n = 0; n < 40; ++n) {
    EXPECT_LE(amount_to_keep(n, 1), n / 2);
    EXPECT_EQ(amount_to_keep(n, 1'000'000), 0u);
  }
}

TEST(Victims, EveryRankIsAskedAndTheLastGiverFirst) {
  Victims victims(10, 3), others(10, 4);
  std::vector<std::size_t> first, second;
  for (int i = 0; i < 10; ++i) first.push_back(victims.next());
  for (int i = 0; i < 10; ++i) second.push_back(others.next());
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 10u);
  victims.gave(7);
  victims.restart();
  EXPECT_EQ(victims.next(), 7u);
  std::set<std::size_t> asked;
  for (int i = 0; i < 10; ++i) asked.insert(victims.next());
  EXPECT_EQ(asked.size(), 10u);
}

TEST(Groups, HaveTheSameLoadAndAreNotLargerThanAsked) {
  for (const std::size_t processes : {1U, 2U, 27U, 28U, 29U, 1000U}) {
    std::vector<double> loads(processes);
    for (std::size_t p = 0; p < processes; ++p) loads[p] = static_cast<double>(hash(p) % 100);
    const std::vector<std::uint32_t> group_of = deal_into_groups(loads, 28);
    const std::size_t groups = (processes + 27) / 28;
    std::vector<double> sums(groups);
    std::vector<std::size_t> members(groups);
    for (std::size_t p = 0; p < processes; ++p) {
      ASSERT_LT(group_of[p], groups);
      sums[group_of[p]] += loads[p];
      ++members[group_of[p]];
    }
    EXPECT_LE(std::ranges::max(members), 28U) << processes;
    EXPECT_LE(std::ranges::max(members) - std::ranges::min(members), 1U) << processes;
    EXPECT_LE(std::ranges::max(sums) - std::ranges::min(sums), 100) << processes;
  }
}

// Processes that spawn, move and finish tasks at any moment, while each round reads them one after the other.
TEST(TerminationRounds, NeverEndWhileATaskIsUnderWayAndEndSoonAfter) {
  std::mt19937_64 dice(11);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t processes = 1 + dice() % 6;
    std::vector<TerminationRounds::Counts> counts(processes);
    std::uint64_t under_way = 0;
    const auto spawn = [&](std::size_t p) { ++counts[p].spawned, ++under_way; };
    for (std::size_t i = dice() % 20; i > 0; --i) spawn(dice() % processes);
    TerminationRounds rounds;
    int quiet = 0;
    for (int round = 0;; ++round) {
      ASSERT_LT(round, 10'000);
      TerminationRounds::Counts sum;
      for (std::size_t p = 0; p < processes; ++p) {
        sum += counts[p];
        for (std::size_t steps = dice() % 4; steps > 0 && under_way > 0; --steps) {
          // A task anywhere may spawn anywhere it is executed, and end anywhere.
          if (dice() % 3 == 0 && round < 50) spawn(dice() % processes);
          ++counts[dice() % processes].finished, --under_way;
        }
      }
      const bool nothing_left = under_way == 0;
      if (rounds.judge(sum, processes) == TerminationRounds::Outcome::over) {
        ASSERT_TRUE(nothing_left);
        break;
      }
      quiet = nothing_left ? quiet + 1 : 0;
      ASSERT_LE(quiet, 3);
    }
  }
}

TEST(TerminationRounds, WhoLeavesWhileOthersRunIsFoundOut) {
  TerminationRounds rounds;
  EXPECT_EQ(rounds.judge({5, 5, 1}, 3), TerminationRounds::Outcome::failed);
  EXPECT_EQ(rounds.judge({5, 5, 3}, 3), TerminationRounds::Outcome::again);
  EXPECT_EQ(rounds.judge({5, 5, 3}, 3), TerminationRounds::Outcome::over);
}

}  // namespace
}  // namespace steelyard::tasks
