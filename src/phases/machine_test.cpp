// SPDX-License-Identifier: BSD-3-Clause
#include "phases/machine.h"

#include <gtest/gtest.h>

#include "phases/test_support.h"

namespace steelyard::phases {
namespace {

using testing_support::Emulated;

Machine machine(const char* description) {
  const Emulated emulated(description);
  return Machine(node::discover());
}

TEST(Machine, CountsWhatIsInWhat) {
  const Machine m = machine("package:2 numa:2 l3:2 core:3 pu:2");
  EXPECT_EQ(m.count(Resource::package), 2);
  EXPECT_EQ(m.count(Resource::numa), 4);
  EXPECT_EQ(m.count(Resource::l3), 8);
  EXPECT_EQ(m.count(Resource::core), 24);
  EXPECT_EQ(m.count(Resource::pu), 48);
  EXPECT_EQ(m.count_in(Resource::package, 1, Resource::numa), 2);
  EXPECT_EQ(m.count_in(Resource::numa, 3, Resource::core), 6);
  EXPECT_EQ(m.count_in(Resource::core, 0, Resource::pu), 2);
  EXPECT_EQ(m.count_in(Resource::core, 0, Resource::package), 1);
  EXPECT_EQ(m.threads_per_core(), 2);
  EXPECT_EQ(m.kinds(), 1);
  EXPECT_EQ(m.kind(0), 0);
  EXPECT_EQ(m.kind(4000), -1);
  EXPECT_EQ(m.cores(m.all()), 24);
}

TEST(Machine, AKindThatIsNotThereGivesWayToTheOneAbove) {
  const Machine m = machine("core:4 pu:1");
  EXPECT_FALSE(m.has(Resource::l3));
  EXPECT_EQ(m.nearest(Resource::l3), Resource::numa) << "hwloc always tells of one NUMA domain";
  EXPECT_FALSE(m.has(Resource::package));
  EXPECT_EQ(m.nearest(Resource::package), Resource::machine);
  EXPECT_EQ(m.nearest(Resource::pu), Resource::pu);
}

TEST(Machine, KnowsWhoHoldsASet) {
  const Machine m = machine("package:2 core:2 pu:2");
  EXPECT_EQ(m.holder(Resource::package, {4, 5}), 1);
  EXPECT_EQ(m.holder(Resource::core, {4, 5}), 2);
  EXPECT_EQ(m.holder(Resource::core, {5, 6}), -1);
  EXPECT_EQ(m.holder(Resource::package, {3, 4}), -1);
  EXPECT_EQ(m.holder(Resource::package, {}), -1);
  EXPECT_EQ(m.closest(Resource::package, {3, 4, 5}), 1);
  EXPECT_EQ(m.closest(Resource::package, {}), 0);
}

TEST(Machine, KindsOfCoresAreToldApart) {
  node::Topology topology;
  for (int i = 0; i < 6; ++i) topology.pus.push_back({i, i, 0, 0, 0, i < 4 ? 0 : 1});
  const Machine m(topology);
  EXPECT_EQ(m.kinds(), 2);
  EXPECT_EQ(m.kind(3), 0);
  EXPECT_EQ(m.kind(5), 1);
}

}  // namespace
}  // namespace steelyard::phases
