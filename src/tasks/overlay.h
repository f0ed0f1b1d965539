// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace steelyard::tasks {

/// Which nodes may exchange messages. Vertices are the nodes of the machine, in the order of their ranks, which is
/// taken to follow their distance. No process holds the graph: everything is computed from two vertices, in O(degree),
/// without a message.
///
/// The small world is Kleinberg's on a ring, without random draws: equally many links at each scale of distance, which
/// is what its 1/distance law draws on average. Links reach j * s for j = 1..m at each of the scales s = 1, (2m+1),
/// (2m+1)^2, ..., so that greedy routing writes the distance in balanced digits and takes at most one hop a digit.
class Overlay {
 public:
  enum class Shape {
    small_world,
    complete,  ///< every node with every other: what random victims need
    star       ///< vertex 0 with every other: master and workers
  };

  /// `degree`: links of a vertex, at most; 0 for the rule.
  explicit Overlay(std::int64_t vertices, int degree = 0, Shape shape = Shape::small_world);
  /// 4 log2(n), as in the paper, bounded.
  static int rule(std::int64_t vertices);

  std::int64_t size() const { return size_; }
  std::vector<std::int64_t> neighbours(std::int64_t vertex) const;
  bool linked(std::int64_t one, std::int64_t other) const;
  /// The neighbour of `from` that is nearest to `to`; always nearer than `from` is.
  std::int64_t next(std::int64_t from, std::int64_t to) const;
  int hops(std::int64_t from, std::int64_t to) const;

  /// The tree of all greedy routes to vertex 0: as deep as routes are long, and made of links.
  std::int64_t parent(std::int64_t vertex) const { return next(vertex, 0); }
  std::vector<std::int64_t> children(std::int64_t vertex) const;

  /// A number for the link of `from` to its neighbour `to`, from 0, by which the processes of a node divide its links.
  std::int64_t slot(std::int64_t from, std::int64_t to) const;

 private:
  std::int64_t apart(std::int64_t from, std::int64_t to) const;  // signed, the shorter way round
  std::size_t nearest_step(std::int64_t distance) const;

  std::int64_t size_;
  Shape shape_;
  std::vector<std::int64_t> steps_;  // ascending distances of the links of each vertex
};

}  // namespace steelyard::tasks
