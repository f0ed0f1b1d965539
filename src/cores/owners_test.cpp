// SPDX-License-Identifier: BSD-3-Clause
#include "cores/owners.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace steelyard::cores {
namespace {

node::Topology machine(int packages, int cores_each, int threads_each = 1) {
  node::Topology topology;
  int core = 0;
  for (int package = 0; package < packages; ++package) {
    for (int c = 0; c < cores_each; ++c, ++core) {
      for (int t = 0; t < threads_each; ++t)
        topology.pus.push_back({core * threads_each + t, core, package, package, package});
    }
  }
  return topology;
}

node::CpuSet range(int from, int to) {
  node::CpuSet set;
  for (int cpu = from; cpu < to; ++cpu) set.add(cpu);
  return set;
}

TEST(ShareOut, KeepsTheLaunchersMasksWhereTheyAreApart) {
  const Owners owners = share_out(machine(1, 4), {{{0, 1}, 2, true}, {{2, 3}, 2, true}});
  EXPECT_EQ(owners.owner, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_FALSE(owners.masks_overlap);
  EXPECT_EQ(owners.immovable_reason, "");
}

TEST(ShareOut, DividesOneMaskInTheOrderOfTheRanks) {
  const Owners owners = share_out(machine(2, 24), std::vector<Arrival>(8, {range(0, 48), 6, true}));
  for (int pu = 0; pu < 48; ++pu) EXPECT_EQ(owners.owner[pu], pu / 6);
  EXPECT_TRUE(owners.masks_overlap);
  EXPECT_EQ(owners.immovable_reason, "");
}

TEST(ShareOut, SharesEvenlyWhereNobodyChoseACount) {
  const Owners owners = share_out(machine(1, 7), std::vector<Arrival>(3, {range(0, 7), 7, false}));
  EXPECT_EQ(owners.threads, (std::vector<int>{3, 2, 2}));
  EXPECT_EQ(owners.immovable_reason, "");
}

TEST(ShareOut, SaysWhoSharesTooFewCores) {
  const auto problem = [](const std::vector<Arrival>& arrivals) {
    const Owners owners = share_out(machine(1, 2), arrivals);
    EXPECT_EQ(owners.cores, 2);
    EXPECT_EQ("more " + owners.oversubscribed + " than cores",
              owners.immovable_reason.substr(0, owners.immovable_reason.find(':')));
    return owners.immovable_reason;
  };
  const std::string advice = "; use fewer threads (OMP_NUM_THREADS), fewer ranks or a wider CPU binding";
  EXPECT_EQ(problem({{{0, 1}, 2, true, 4}, {{0, 1}, 2, true, 7}}),
            "more threads than cores: 2 ranks with 4 threads in all share 2 cores" + advice);
  EXPECT_EQ(problem({{{0}, 2, true, 4}, {{1}, 1, true, 7}}),
            "more threads than cores: rank 4 runs 2 threads, and its affinity mask has 1 core" + advice);
  for (const bool chosen : {true, false}) {
    EXPECT_EQ(problem(std::vector<Arrival>(3, {{0, 1}, chosen ? 1 : 2, chosen})),
              "more ranks than cores: 3 ranks share 2 cores; start fewer ranks or use a wider CPU binding");
  }
}

TEST(ShareOut, TakesSecondHardwareThreadsOnlyWhereCoresRunOut) {
  const node::Topology smt = machine(1, 4, 2);
  const Owners few = share_out(smt, {{range(0, 8), 4, true}});
  EXPECT_EQ(few.owner, (std::vector<int>{0, -1, 0, -1, 0, -1, 0, -1}));
  EXPECT_EQ(few.usable, (std::vector<bool>{true, false, true, false, true, false, true, false}));
  const Owners many = share_out(smt, {{range(0, 8), 6, true}});
  EXPECT_EQ(std::count(many.owner.begin(), many.owner.end(), 0), 6);
  EXPECT_EQ(many.immovable_reason, "");
}

TEST(ShareOut, LeavesCpusOutsideOfEveryMaskAlone) {
  const Owners owners = share_out(machine(1, 8), {{{5}, 1, true}, {{6, 7}, 1, true}});
  EXPECT_EQ(owners.owner[5], 0);
  EXPECT_EQ(owners.owner[6], 1);
  for (int pu = 0; pu < 5; ++pu) EXPECT_FALSE(owners.usable[pu]);
  EXPECT_TRUE(owners.usable[7]);
}

TEST(ShareOut, KnowsSparseCpuNumbers) {
  node::Topology topology;
  for (const int os : {3, 17, 90}) topology.pus.push_back({os, static_cast<int>(topology.pus.size()), 0, 0, 0});
  const Owners owners = share_out(topology, {{{90, 3}, 1, true}, {{17}, 1, true}});
  EXPECT_EQ(owners.owner, (std::vector<int>{0, 1, -1}));
}

TEST(ShareOut, OnAnEmulatedNodeMasksOfTheRealOneMeanNothing) {
  node::Topology topology = machine(2, 4);
  topology.emulated = true;
  const Owners owners = share_out(topology, std::vector<Arrival>(2, {{0, 1}, 4, true}));
  EXPECT_EQ(owners.owner, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(ShareOut, GivesSlotsWhereThreadsShareTheCoresOfOneMask) {
  const auto slots = [](const std::vector<Arrival>& arrivals) { return share_out(machine(1, 2, 2), arrivals).slots; };
  const node::CpuSet mask = {0, 1, 2, 3};
  EXPECT_EQ(slots(std::vector<Arrival>(5, {mask, 1, true})), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(slots({{mask, 1, true}, {mask, 9, true}, {mask, 1, true}}), (std::vector<int>{0, 1, 1, 2}))
      << "two cores: no process has a use for a third slot";
  EXPECT_TRUE(slots(std::vector<Arrival>(4, {mask, 1, true})).empty()) << "enough hardware threads";
  EXPECT_TRUE(slots(std::vector<Arrival>(4, {mask, 2, true})).empty()) << "no process has a use for more";
  EXPECT_TRUE(slots({{{0, 1}, 1, true}, {{0, 1}, 2, true}, {{2, 3}, 1, true}}).empty()) << "bound apart";
  EXPECT_TRUE(slots({{mask, 9, true}}).empty()) << "no other process";
}

TEST(ShareOut, SurvivesNothing) {
  EXPECT_TRUE(share_out({}, {}).owner.empty());
  const Owners owners = share_out(machine(1, 2), {{{}, 0, true}});
  EXPECT_NE(owners.immovable_reason, "");
}

TEST(ShareOut, NeverGivesACoreTwiceNorOneOutsideOfTheMask) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const node::Topology topology = machine(1 + static_cast<int>(random() % 3), 1 + static_cast<int>(random() % 8),
                                            1 + static_cast<int>(random() % 2));
    std::vector<Arrival> arrivals(1 + random() % 9);
    for (Arrival& arrival : arrivals) {
      for (const node::Pu& pu : topology.pus) {
        if (random() % 3 != 0) arrival.mask.add(pu.os_index);
      }
      arrival.threads = static_cast<int>(random() % 7);
      arrival.threads_chosen = random() % 2 == 0;
    }
    const Owners owners = share_out(topology, arrivals);
    std::vector<int> given(arrivals.size(), 0);
    for (std::size_t pu = 0; pu < owners.owner.size(); ++pu) {
      const int process = owners.owner[pu];
      if (process < 0) continue;
      ++given[process];
      const auto& mask = arrivals[process].mask;
      ASSERT_TRUE(mask.has(topology.pus[pu].os_index));
      ASSERT_TRUE(owners.usable[pu]);
    }
    for (std::size_t p = 0; p < arrivals.size(); ++p) {
      ASSERT_LE(given[p], owners.threads[p]);
      if (owners.immovable_reason.empty()) {
        ASSERT_EQ(given[p], owners.threads[p]);
      }
    }
  }
}

Plan plan_of(std::vector<int> threads, std::vector<int> domain) {
  Plan plan;
  plan.threads = std::move(threads);
  plan.domain = std::move(domain);
  return plan;
}

const std::vector<int> kTwoDomains = {0, 0, 0, 0, 1, 1, 1, 1};
const std::vector<bool> kAll(8, true);

TEST(OwnersAfterAPlan, ChangesNoMoreOwnersThanItMust) {
  const std::vector<int> owner = {0, 0, 1, 1, 2, 2, 3, 3};
  EXPECT_EQ(owners_after(owner, kAll, kTwoDomains, plan_of({3, 1, 2, 2}, {0, 0, 1, 1})),
            (std::vector<int>{0, 0, 1, 0, 2, 2, 3, 3}));
}

TEST(OwnersAfterAPlan, MovesAProcessToItsDomain) {
  const std::vector<int> owner = {0, 0, 1, 1, 2, 2, 3, 3};
  const std::vector<int> after = owners_after(owner, kAll, kTwoDomains, plan_of({2, 2, 2, 2}, {1, 0, 0, 1}));
  for (int core = 0; core < 8; ++core) EXPECT_EQ(kTwoDomains[core], (std::vector<int>{1, 0, 0, 1})[after[core]]);
}

TEST(OwnersAfterAPlan, UsesNoCoreThatTheJobWasNotGiven) {
  std::vector<bool> usable = kAll;
  usable[3] = false;
  const std::vector<int> owner = {0, 1, 1, -1, -1, -1, -1, -1};
  const std::vector<int> after = owners_after(owner, usable, kTwoDomains, plan_of({2, 2}, {0, -1}));
  EXPECT_EQ(after[3], -1);
  EXPECT_EQ(std::count(after.begin(), after.end(), 1), 2);
}

TEST(OwnersAfterAPlan, AProcessWithoutADomainMayOwnAnyCore) {
  const std::vector<int> owner = {0, 0, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(owners_after(owner, kAll, kTwoDomains, plan_of({7, 1}, {-1, -1})),
            (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 0}));
}

}  // namespace
}  // namespace steelyard::cores
