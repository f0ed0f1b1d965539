// SPDX-License-Identifier: BSD-3-Clause
#include "phases/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "phases/test_support.h"

namespace steelyard::phases {
namespace {

Machine machine(const char* description) {
  const testing_support::Emulated emulated(description);
  return Machine(node::discover());
}

std::vector<CpuSet> one_core_each(const Machine& m, int processes) {
  std::vector<CpuSet> masks;
  for (int i = 0; i < processes; ++i) masks.push_back(m.cpus(Resource::core, i % m.count(Resource::core)));
  return masks;
}

TEST(Distribution, OneANumaDomainOfTheFullNode) {
  const Machine m = machine("numa:4 core:4 pu:1");
  const Distribution d = distribute(m, one_core_each(m, 16), Resource::numa, 1);
  EXPECT_EQ(d.chosen(), (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(d.members(4), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(d.resource[13], 3);
}

TEST(Distribution, SeveralAResourceLieApart) {
  const Machine m = machine("package:2 core:8 pu:1");
  EXPECT_EQ(distribute(m, one_core_each(m, 16), Resource::package, 2).chosen(), (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(distribute(m, one_core_each(m, 16), Resource::package, 3).chosen(), (std::vector<int>{0, 2, 5, 8, 10, 13}));
}

TEST(Distribution, RanksThatTheLauncherScatteredStayWithTheirNeighbours) {
  const Machine m = machine("package:2 core:2 pu:1");
  std::vector<CpuSet> masks;
  for (const int core : {0, 2, 1, 3}) masks.push_back(m.cpus(Resource::core, core));
  const Distribution d = distribute(m, masks, Resource::package, 1);
  EXPECT_EQ(d.chosen(), (std::vector<int>{0, 1}));
  EXPECT_EQ(d.members(0), (std::vector<int>{0, 2}));
}

TEST(Distribution, UnboundOnesAreSpread) {
  const Machine m = machine("package:2 core:4 pu:1");
  const Distribution d = distribute(m, std::vector<CpuSet>(8, m.all()), Resource::package, 1);
  EXPECT_EQ(d.chosen(), (std::vector<int>{0, 4}));
  EXPECT_EQ(d.resource[0], 0);
  EXPECT_EQ(d.resource[4], 1);
}

TEST(Distribution, BoundOnesComeFirst) {
  const Machine m = machine("package:2 core:4 pu:1");
  std::vector<CpuSet> masks(4, m.all());
  masks[3] = m.cpus(Resource::core, 1);
  const Distribution d = distribute(m, masks, Resource::package, 1);
  EXPECT_EQ(d.chosen(), (std::vector<int>{0, 3}));
  EXPECT_EQ(d.resource[3], 0);
  EXPECT_EQ(d.resource[0], 1) << "the unbound one goes where nobody is";
}

TEST(Distribution, HoldsItsPromisesForAnyMasks) {
  std::mt19937 random(7);
  for (const char* description : {"package:2 core:4 pu:1", "package:1 numa:3 l3:2 core:3 pu:2", "core:1 pu:1"}) {
    const Machine m = machine(description);
    for (int round = 0; round < 300; ++round) {
      std::vector<CpuSet> masks(1 + random() % 20);
      for (CpuSet& mask : masks) {
        const auto kind = static_cast<Resource>(random() % kResources);
        mask = m.has(kind) ? m.cpus(kind, static_cast<int>(random() % static_cast<unsigned>(m.count(kind)))) : m.all();
        if (random() % 4 == 0) mask = mask | m.cpus(Resource::core, static_cast<int>(random() % 1));
      }
      const Resource resource = m.nearest(static_cast<Resource>(random() % kResources));
      const int max_processes = 1 + static_cast<int>(random() % 4);
      const Distribution d = distribute(m, masks, resource, max_processes);
      EXPECT_EQ(d, distribute(m, masks, resource, max_processes)) << "deterministic";

      std::vector<int> sizes(static_cast<std::size_t>(m.count(resource)));
      std::vector<int> bound(sizes.size()), bound_chosen(sizes.size());
      int unbound = 0, unbound_chosen = 0;
      for (std::size_t p = 0; p < masks.size(); ++p) {
        const int leader = d.leader[p];
        ASSERT_GE(leader, 0);
        EXPECT_TRUE(d.chosen(leader)) << "everybody is worked for";
        EXPECT_EQ(d.resource[p], d.resource[static_cast<std::size_t>(leader)]);
        const int home = m.holder(resource, masks[p]);
        const bool chosen = d.chosen(static_cast<int>(p));
        if (home >= 0) {
          EXPECT_EQ(d.resource[p], home) << "bound processes stay where they are";
          ++bound[static_cast<std::size_t>(home)];
          bound_chosen[static_cast<std::size_t>(home)] += chosen;
        } else {
          ++unbound;
          unbound_chosen += chosen;
        }
        if (chosen) ++sizes[static_cast<std::size_t>(d.resource[p])];
      }
      int room = 0, least = max_processes, fullest_with_unbound = 0;
      for (std::size_t r = 0; r < sizes.size(); ++r) {
        EXPECT_LE(sizes[r], max_processes);
        EXPECT_EQ(bound_chosen[r], std::min(max_processes, bound[r])) << "bound ones first, as many as fit";
        room += max_processes - bound_chosen[r];
        least = std::min(least, sizes[r]);
        if (sizes[r] > bound_chosen[r]) fullest_with_unbound = std::max(fullest_with_unbound, sizes[r]);
      }
      EXPECT_EQ(unbound_chosen, std::min(unbound, room)) << "unbound ones fill up";
      EXPECT_LE(fullest_with_unbound, least + 1) << "and evenly";
    }
  }
}

TEST(Threads, ShareCoresToTheLast) {
  EXPECT_EQ(threads_of(8, 3, 0) + threads_of(8, 3, 1) + threads_of(8, 3, 2), 8);
  EXPECT_EQ(threads_of(8, 3, 2), 2);
  EXPECT_EQ(threads_of(2, 5, 4), 1);
}

}  // namespace
}  // namespace steelyard::phases
