// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "tasks/overlay.h"
#include "tasks/rank_placement.h"

namespace steelyard::tasks {

/// Routes between processes over the overlay of nodes. The links of a node are divided among its processes, each of
/// which serves few; the other processes of the node reach it through shared memory.
class Routes {
 public:
  Routes(RankPlacement placement, std::unique_ptr<const Overlay> overlay)
      : placement_(std::move(placement)), overlay_(std::move(overlay)) {}
  const RankPlacement& placement() const { return placement_; }
  const Overlay& overlay() const { return *overlay_; }

  /// The process of `node` that serves its link to the neighbour `other`.
  int server(int node, int other) const;
  /// The process to which `rank` forwards a result for `owner`.
  int next(int rank, int owner) const;

  struct Way {
    int rank;     ///< the next process
    int further;  ///< how often it is forwarded after that
  };
  Way way(int rank, int owner) const;

  /// A link of a node to another one.
  struct Link {
    int node;    ///< the other node
    int server;  ///< the process of this node that serves the link, by its number in the node
    int peer;    ///< the rank that serves it at the other end
  };
  /// The links of one process and of its node, and the process's part in termination rounds.
  struct Duties {
    std::vector<Link> links;    ///< all links of its node
    std::vector<int> peers;     ///< ranks at the other ends of the links that the process serves
    std::vector<int> children;  ///< those of `peers` that are below it in the tree
    int parent = -1;            ///< the one of `peers` that is above it; -1: none
    bool reports = false;       ///< it reports the counts of its node to the parent; at the root, it decides
    int children_of_node = 0;   ///< nodes that are below its node in the tree
  };
  Duties duties(int rank) const;

 private:
  RankPlacement placement_;
  std::unique_ptr<const Overlay> overlay_;
};

}  // namespace steelyard::tasks
