// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "tasks/overlay.h"
#include "tasks/places.h"

namespace steelyard::tasks {

/// Routes between processes over the overlay of nodes. Each link of a node is served by one process of the node, in
/// turn, so that a process serves few links; the other processes reach it through shared memory.
class Routes {
 public:
  Routes(Places places, std::unique_ptr<const Overlay> overlay)
      : places_(std::move(places)), overlay_(std::move(overlay)) {}
  const Places& places() const { return places_; }
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
  /// Links that one process serves, and its part in termination rounds.
  struct Duties {
    std::vector<Link> links;    ///< of its node, whichever process serves them
    std::vector<int> peers;     ///< ranks at the other ends of its links
    std::vector<int> children;  ///< those among them that are below it in the tree
    int parent = -1;            ///< the one above it
    bool reports = false;       ///< the counts of its node, to the parent; at the root, decides
    int children_of_node = 0;
  };
  Duties duties(int rank) const;

 private:
  Places places_;
  std::unique_ptr<const Overlay> overlay_;
};

}  // namespace steelyard::tasks
