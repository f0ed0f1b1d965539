// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace steelyard::tasks {

/// The graph of nodes that may exchange messages. Vertices are the nodes in the order of their ranks: those with close
/// numbers are assumed to be close in the network. No process holds the graph: everything is computed from two
/// vertices, in O(degree), without a message.
class Overlay {
 public:
  explicit Overlay(std::int64_t vertices) : size_(vertices) {}
  virtual ~Overlay() = default;

  std::int64_t size() const { return size_; }
  virtual std::vector<std::int64_t> neighbours(std::int64_t vertex) const = 0;
  /// The neighbour of `from` with the fewest hops to `to`; `to` itself if `from` is `to`.
  virtual std::int64_t next(std::int64_t from, std::int64_t to) const = 0;
  /// A number for the link of `from` to its neighbour `to`, from 0, by which the processes of a node divide its links.
  virtual std::int64_t slot(std::int64_t from, std::int64_t to) const = 0;

  /// The length of the route.
  int hops(std::int64_t from, std::int64_t to) const;
  /// The parent of a vertex in the tree of all routes to vertex 0.
  std::int64_t parent(std::int64_t vertex) const { return next(vertex, 0); }

 protected:
  /// The distance on the ring of all vertices, the shorter way round; negative if that way is backwards.
  std::int64_t distance(std::int64_t from, std::int64_t to) const;

 private:
  std::int64_t size_;
};

}  // namespace steelyard::tasks
