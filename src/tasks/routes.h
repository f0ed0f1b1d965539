// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "tasks/overlay.h"
#include "tasks/places.h"

namespace steelyard::tasks {

/// From the overlay of nodes to processes. Each link of a node is served by one of its processes, in turn, so that a
/// process has few; the others reach it through the memory that they share.
class Routes {
 public:
  Routes(Places places, std::unique_ptr<const Overlay> overlay)
      : places_(std::move(places)), overlay_(std::move(overlay)) {}
  const Places& places() const { return places_; }
  const Overlay& overlay() const { return *overlay_; }

  /// The process of `node` that serves its link to the neighbour `other`.
  int server(int node, int other) const;
  /// Where something for `owner` goes next from `rank`.
  int next(int rank, int owner) const;

  struct Way {
    int rank;     ///< the next process
    int further;  ///< how often it is handed on after that
  };
  Way way(int rank, int owner) const;

  /// What one process is in charge of.
  struct Duties {
    std::vector<int> peers;     ///< ranks at the other ends of its links
    std::vector<int> children;  ///< those among them that are below it in the tree
    int parent = -1;            ///< the one above it
    bool speaks = false;        ///< for its node, to the one above; at the root, to all
    int children_of_node = 0;
  };
  Duties duties(int rank) const;

 private:
  Places places_;
  std::unique_ptr<const Overlay> overlay_;
};

}  // namespace steelyard::tasks
