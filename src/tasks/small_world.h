// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tasks/overlay.h"

namespace steelyard::tasks {

/// Kleinberg's small world on a ring, without random draws: equally many links at each scale of distance, which is what
/// its 1/distance law draws on average. Links reach j * s for j = 1..m at each of the scales s = 1, (2m+1), (2m+1)^2,
/// ..., so greedy routing
/// writes the distance in balanced digits, and takes at most one hop per digit.
class SmallWorld final : public Overlay {
 public:
  /// @param degree links of a vertex, at most; 0 for default_degree()
  explicit SmallWorld(std::int64_t vertices, int degree = 0);
  /// 4 log2(n), as in the paper on TITUS_DLB.
  static int default_degree(std::int64_t vertices);

  std::vector<std::int64_t> neighbours(std::int64_t vertex) const override;
  std::int64_t next(std::int64_t from, std::int64_t to) const override;
  std::int64_t slot(std::int64_t from, std::int64_t to) const override;

 private:
  std::size_t nearest_step(std::int64_t distance) const;

  std::vector<std::int64_t> steps_;  // ascending distances of the links of each vertex
};

}  // namespace steelyard::tasks
