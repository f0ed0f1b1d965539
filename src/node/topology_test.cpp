// SPDX-License-Identifier: BSD-3-Clause
#include "node/topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace steelyard::node {
namespace {

/// hwloc reads its variables at each load.
class Machine {
 public:
  Machine(const char* variable, const char* value) : variable_(variable) { setenv(variable, value, 1); }
  ~Machine() { unsetenv(variable_); }

 private:
  const char* variable_;
};

TEST(Topology, OfThisMachineIsReal) {
  const Topology topology = discover();
  EXPECT_FALSE(topology.pus.empty());
  EXPECT_FALSE(topology.emulated);
  EXPECT_FALSE(topology.summary.empty());
}

TEST(Topology, TwoPackagesOf24) {
  const Machine machine("HWLOC_SYNTHETIC", "package:2 core:24 pu:1");
  const Topology topology = discover();
  EXPECT_TRUE(topology.emulated);
  EXPECT_EQ(topology.pus.size(), 48U);
  EXPECT_EQ(topology.summary, "2 packages x 24 cores");
  const std::vector<int> package = domains(topology, Level::package);
  EXPECT_EQ(package[23], 0);
  EXPECT_EQ(package[24], 1);
  EXPECT_EQ(domains(topology, Level::node), std::vector<int>(48, 0));
}

TEST(Topology, AnOutlineHasAllButThePusAndTheSummary) {
  for (int bit = 0; bit < 4; ++bit) {
    Topology topology;
    topology.pus.resize(5);
    topology.emulated = bit == 0;
    topology.has_packages = bit == 1;
    topology.has_numa = bit == 2;
    topology.has_l3 = bit == 3;
    const Topology copy = topology_with(outline_of(topology));
    EXPECT_EQ(copy.pus.size(), 5U);
    EXPECT_EQ(copy.emulated, topology.emulated);
    EXPECT_EQ(copy.has_packages, topology.has_packages);
    EXPECT_EQ(copy.has_numa, topology.has_numa);
    EXPECT_EQ(copy.has_l3, topology.has_l3);
  }
}

TEST(Topology, HardwareThreadsAreThinnedToOneACore) {
  const Machine machine("HWLOC_SYNTHETIC", "package:1 core:4 pu:2");
  const Topology topology = discover();
  EXPECT_EQ(topology.pus.size(), 8U);
  EXPECT_EQ(topology.summary, "1 package x 4 cores, 8 hardware threads");
  const Topology thin = one_pu_per_core(topology);
  EXPECT_EQ(thin.pus.size(), 4U);
  std::set<int> cores;
  for (const Pu& pu : thin.pus) cores.insert(pu.core);
  EXPECT_EQ(cores.size(), 4U);
}

TEST(Topology, CachesAndNumaDomainsAreLevelsOfTheirOwn) {
  const Machine machine("HWLOC_SYNTHETIC", "package:2 numa:2 l3:4 core:3 pu:1");
  const Topology topology = discover();
  ASSERT_EQ(topology.pus.size(), 48U);
  EXPECT_EQ(domains(topology, Level::package).back(), 1);
  const std::vector<int> numa = domains(topology, Level::numa);
  const std::vector<int> l3 = domains(topology, Level::l3);
  EXPECT_EQ(numa.back(), 3);
  EXPECT_EQ(l3.back(), 15);
}

TEST(Topology, OnePu) {
  const Machine machine("HWLOC_SYNTHETIC", "core:1 pu:1");
  EXPECT_EQ(discover().pus.size(), 1U);
}

TEST(Topology, ABrokenDescriptionStillGivesCores) {
  const Machine machine("HWLOC_SYNTHETIC", "package:nonsense");
  EXPECT_FALSE(discover().pus.empty());
}

TEST(Topology, AMissingFileStillGivesCores) {
  const Machine machine("HWLOC_XMLFILE", "/nonexistent.xml");
  EXPECT_FALSE(discover().pus.empty());
}

}  // namespace
}  // namespace steelyard::node
