// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace steelyard::node {

/// A processing unit, with the index of everything that it is in. Indices count from 0 in hwloc's logical order.
struct Pu {
  int os_index = 0;
  int core = 0;
  int l3 = 0;
  int numa = 0;
  int package = 0;
  int kind = 0;  ///< of the core, from the most frugal (0) up; all 0 where cores are alike or not told apart
  bool operator==(const Pu&) const = default;
};

/// The processing units that the job may use here by cgroup, in hwloc's logical order (neighbours are near).
struct Topology {
  std::vector<Pu> pus;
  bool emulated = false;  ///< synthetic or from a file: binding is recorded, not applied
  std::string summary;    ///< "2 packages x 24 cores"
  // Whether the machine tells of such levels at all; where not, the index of every PU is 0.
  bool has_packages = true, has_numa = true, has_l3 = true;
};

/// What a topology has besides its PUs and its summary, as another process gets it: no pointer, and no padding.
struct TopologyOutline {
  std::uint64_t pus = 0;
  std::uint64_t emulated = 0, has_packages = 0, has_numa = 0, has_l3 = 0;  ///< 0 or 1
};
TopologyOutline outline_of(const Topology& topology);
/// A topology with that outline, whose PUs and summary the caller fills in.
Topology topology_with(const TopologyOutline& outline);

/// Asks hwloc, which also hears HWLOC_SYNTHETIC, HWLOC_XMLFILE and cgroups. On failure one PU per online CPU, flat.
Topology discover();

/// Keeps the first PU of each core.
Topology one_pu_per_core(const Topology& topology);

/// Which level must not be spanned by one process.
enum class Level { node, package, numa, l3 };
/// By PU: the index of its domain at that level, from 0 without gaps.
std::vector<int> domains(const Topology& topology, Level level);

}  // namespace steelyard::node
