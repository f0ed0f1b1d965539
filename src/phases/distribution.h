// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "phases/machine.h"

namespace steelyard::phases {

/// Which processes work in a phase, for which others, and where. Processes are counted among those of the node.
struct Distribution {
  std::vector<int>
      resource;  ///< by process: the resource on which it works if it is chosen, otherwise that of its leader
  std::vector<int> leader;  ///< by process: the chosen process that works for it; itself if it is chosen

  bool chosen(int process) const { return leader[static_cast<std::size_t>(process)] == process; }
  std::vector<int> chosen() const;
  /// The processes for which `leader` works, itself included, in ascending order.
  std::vector<int> members(int leader) const;
  bool operator==(const Distribution&) const = default;
};

/// Chooses at most `max_processes` processes for each resource of that type (a type that the machine has). Processes
/// bound within one resource are chosen first for it; processes that are not bound within one fill the remaining places
/// evenly. The chosen processes are evenly spaced in the order of their CPUs, so that each works for its neighbours;
/// the sizes of groups differ by at most one.
/// Pure and deterministic: all processes compute the same from the same bindings, without a message (Gutierrez et al.,
/// IPDPS 2017, section III.C).
Distribution distribute(const Machine& machine, const std::vector<CpuSet>& masks, Resource resource, int max_processes);

/// Threads for each of `sharing` processes that share `cores`, the `place`-th of them: at least 1, the remainder to the
/// first.
int threads_of(int cores, int sharing, int place);

}  // namespace steelyard::phases
