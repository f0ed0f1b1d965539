#pragma once
#include <vector>

#include "phases/machine.h"

namespace steelyard::phases {

/// Who works in a phase, for whom, and where. Indices are those of the processes of the node.
struct Distribution {
  std::vector<int> resource;  ///< by process: where it works if it is chosen, else where its leader works
  std::vector<int> leader;    ///< by process: the chosen one that works for it; itself where it is chosen

  bool chosen(int process) const { return leader[static_cast<std::size_t>(process)] == process; }
  std::vector<int> chosen() const;
  /// Those for whom `leader` works, itself among them, in ascending order.
  std::vector<int> members(int leader) const;
  bool operator==(const Distribution&) const = default;
};

/// Chooses at most `most` processes for each resource of that kind (a kind that the machine has). Processes bound within
/// one resource come first there; those bound to none fill up what is left, evenly. The chosen ones lie evenly spaced among
/// their like, in the order of their CPUs, so that each works for its neighbours; groups differ by one where they must.
/// Pure and deterministic: all processes compute the same from the same masks, without a message (Gutierrez et al., IPDPS
/// 2017, section III.C).
Distribution distribute(const Machine& machine, const std::vector<CpuSet>& masks, Resource resource, int most);

/// Threads for each of `sharing` processes that share `cores`, the `place`-th of them: at least 1, the remainder to the first.
int threads_of(int cores, int sharing, int place);

}  // namespace steelyard::phases
