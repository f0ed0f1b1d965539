// SPDX-License-Identifier: BSD-3-Clause
#include "node/shared_topology.h"

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/hash.h"
#include "node/cgroup.h"

namespace steelyard::node {
namespace {

/// What node rank 0 sends ahead of the PUs and the summary.
struct Outline {
  std::uint64_t allowed;  // hash of the CPUs that its cgroup allows; 0: not told
  std::uint64_t summary_bytes;
  TopologyOutline topology;
};

std::uint64_t hash_of_allowed_cpus(const std::string& root) {
  const std::string list = allowed_cpus(root);
  return list.empty() ? 0 : base::fnv1a(std::as_bytes(std::span(list)));
}

}  // namespace

SharedTopology discover_in_node(Bootstrap& bootstrap, const std::string& root) {
  static_assert(std::is_trivially_copyable_v<Pu> && std::is_trivially_copyable_v<Outline>);
  const std::uint64_t allowed = hash_of_allowed_cpus(root);
  const bool leader = bootstrap.node_rank() == 0;
  Topology leaders;
  if (leader) leaders = discover();
  Outline outline = {allowed, leaders.summary.size(), outline_of(leaders)};
  bootstrap.broadcast_in_node(&outline, sizeof(outline));
  if (!leader) leaders = topology_with(outline.topology);
  leaders.summary.resize(outline.summary_bytes);
  bootstrap.broadcast_in_node(leaders.pus.data(), leaders.pus.size() * sizeof(Pu));
  bootstrap.broadcast_in_node(leaders.summary.data(), outline.summary_bytes);
  if (leader || (allowed != 0 && allowed == outline.allowed)) return {std::move(leaders), true};
  Topology own = discover();
  const bool same = own.pus == leaders.pus;
  return {std::move(own), same};
}

}  // namespace steelyard::node
