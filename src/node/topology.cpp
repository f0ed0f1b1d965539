// SPDX-License-Identifier: BSD-3-Clause
#include "node/topology.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <map>
#include <set>

namespace steelyard::node {
namespace {

int ancestor_index(hwloc_obj_t pu, hwloc_obj_type_t type, hwloc_topology_t topology) {
  const hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, pu);
  return object == nullptr ? 0 : static_cast<int>(object->logical_index);
}

// NUMA nodes are memory children, not ancestors: the one whose cpuset holds the PU.
int numa_index(hwloc_obj_t pu, hwloc_topology_t topology) {
  hwloc_obj_t numa = nullptr;
  while ((numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) != nullptr) {
    if (hwloc_bitmap_isset(numa->cpuset, pu->os_index)) return static_cast<int>(numa->logical_index);
  }
  return 0;
}

bool has(hwloc_topology_t topology, hwloc_obj_type_t type) { return hwloc_get_nbobjs_by_type(topology, type) > 0; }

int kind_of(hwloc_obj_t pu, hwloc_topology_t topology) {
  const int kind = hwloc_cpukinds_get_by_cpuset(topology, pu->cpuset, 0);
  return kind < 0 ? 0 : kind;
}

std::string plural(std::size_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string summarise(const std::vector<Pu>& pus) {
  std::set<int> packages, cores;
  for (const Pu& pu : pus) {
    packages.insert(pu.package);
    cores.insert(pu.core);
  }
  const std::size_t per_package = packages.empty() ? 0 : cores.size() / packages.size();
  std::string text = packages.size() * per_package == cores.size()
                         ? fmt::format("{} x {}", plural(packages.size(), "package"), plural(per_package, "core"))
                         : fmt::format("{}, {}", plural(packages.size(), "package"), plural(cores.size(), "core"));
  if (pus.size() > cores.size()) text += fmt::format(", {} hardware threads", pus.size());
  return text;
}

Topology flat() {
  Topology topology;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  for (int i = 0; i < (online > 0 ? online : 1); ++i) topology.pus.push_back({i, i, 0, 0, 0});
  topology.has_packages = topology.has_numa = topology.has_l3 = false;
  topology.summary = summarise(topology.pus);
  return topology;
}

}  // namespace

Topology discover() {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return flat();
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    return flat();
  }
  Topology found;
  found.emulated = hwloc_topology_is_thissystem(topology) == 0;
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr) {
    found.pus.push_back({static_cast<int>(pu->os_index), ancestor_index(pu, HWLOC_OBJ_CORE, topology),
                         ancestor_index(pu, HWLOC_OBJ_L3CACHE, topology), numa_index(pu, topology),
                         ancestor_index(pu, HWLOC_OBJ_PACKAGE, topology), kind_of(pu, topology)});
  }
  found.has_packages = has(topology, HWLOC_OBJ_PACKAGE);
  found.has_numa = has(topology, HWLOC_OBJ_NUMANODE);
  found.has_l3 = has(topology, HWLOC_OBJ_L3CACHE);
  hwloc_topology_destroy(topology);
  if (found.pus.empty()) return flat();
  found.summary = summarise(found.pus);
  return found;
}

TopologyOutline outline_of(const Topology& topology) {
  return {topology.pus.size(), topology.emulated, topology.has_packages, topology.has_numa, topology.has_l3};
}

Topology topology_with(const TopologyOutline& outline) {
  Topology topology;
  topology.pus.resize(outline.pus);
  topology.emulated = outline.emulated != 0;
  topology.has_packages = outline.has_packages != 0;
  topology.has_numa = outline.has_numa != 0;
  topology.has_l3 = outline.has_l3 != 0;
  return topology;
}

Topology one_pu_per_core(const Topology& topology) {
  Topology thin = topology;
  thin.pus.clear();
  std::set<int> seen;
  for (const Pu& pu : topology.pus) {
    if (seen.insert(pu.core).second) thin.pus.push_back(pu);
  }
  return thin;
}

std::vector<int> domains(const Topology& topology, Level level) {
  std::map<int, int> dense;
  std::vector<int> result;
  for (const Pu& pu : topology.pus) {
    const int index = level == Level::package ? pu.package
                      : level == Level::numa  ? pu.numa
                      : level == Level::l3    ? pu.l3
                                              : 0;
    result.push_back(dense.emplace(index, static_cast<int>(dense.size())).first->second);
  }
  return result;
}

}  // namespace steelyard::node
