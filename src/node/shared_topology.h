// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "node/bootstrap.h"
#include "node/topology.h"

namespace steelyard::node {

/// The topology of a node for one of its processes.
struct SharedTopology {
  Topology topology;
  bool same = true;  ///< false if this process may use other PUs than node rank 0: the PUs' indices differ
};

/// Collective over the node. Only node rank 0 and the processes whose cgroup allows other CPUs ask hwloc. That takes
/// about 3 ms in each process if hwloc has plug-ins, and more if many processes read /sys at the same time.
/// `root`: of the files of cgroups, for tests.
SharedTopology discover_in_node(Bootstrap& bootstrap, const std::string& root = "");

}  // namespace steelyard::node
