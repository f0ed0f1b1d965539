// SPDX-License-Identifier: BSD-3-Clause
#include "cores/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "observe/record.h"

namespace steelyard::cores {

std::string immovable_reason(std::size_t processes, bool all_fixed, const NodeShape& shape) {
  if (processes == 1) return observe::kOneRank;
  if (!shape.openmp && !all_fixed) return observe::kNoOpenMp;  // a process that is fixed may use cores by calls
  if (shape.budget < static_cast<int>(processes)) {
    return fmt::format(
        "{} ranks on {} cores, so no rank can give a core away; start fewer ranks or use a wider CPU binding",
        processes, shape.budget);
  }
  // A rank owns as many cores as it starts with threads: fewer ranks or a wider binding alone change nothing.
  if (shape.budget == static_cast<int>(processes)) {
    const int cores = std::accumulate(shape.capacity.begin(), shape.capacity.end(), 0);
    // Threads alone would share cores.
    if (cores < 2 * shape.budget) {
      return fmt::format(
          "each rank has one core, so no rank can give a core away; the node has {} cores for {} ranks: start fewer "
          "ranks or use a wider CPU binding, then set OMP_NUM_THREADS to the number of cores per rank",
          cores, processes);
    }
    return "each rank has one core, so no rank can give a core away; start ranks with several cores and threads each "
           "(OMP_NUM_THREADS)";
  }
  if (all_fixed) return "all thread counts are fixed";
  return {};
}

std::string no_plan_reason(const Window& window, const NodeShape& shape) {
  const std::size_t n = window.loads.size();
  if (n == 0 || window.steps <= 0 || !(window.elapsed > 0) || !std::isfinite(window.elapsed))
    return "nothing was measured in this window";
  return immovable_reason(n, std::ranges::all_of(window.loads, &ProcessLoad::fixed), shape);
}

Window cleaned(Window window) {
  window.loads = cleaned(std::move(window.loads));
  return window;
}

}  // namespace steelyard::cores
