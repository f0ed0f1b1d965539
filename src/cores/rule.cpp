// SPDX-License-Identifier: BSD-3-Clause
#include "cores/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace steelyard::cores {

std::string obstacle(const Window& window, const NodeShape& shape) {
  const std::size_t n = window.loads.size();
  if (n == 0 || window.phases <= 0 || !(window.elapsed > 0) || !std::isfinite(window.elapsed))
    return "nothing was measured in this window";
  if (n == 1) return "one rank on the node, no other rank to exchange cores with";
  if (shape.budget < static_cast<int>(n))
    return fmt::format("{} ranks on {} cores: no rank has a core to give away", n, shape.budget);
  if (shape.budget == static_cast<int>(n)) return "each rank has one core: no rank has a core to give away";
  if (std::all_of(window.loads.begin(), window.loads.end(), [](const ProcessLoad& load) { return load.fixed; }))
    return "all thread counts are fixed by the program";
  return {};
}

Window cleaned(Window window) {
  window.loads = cleaned(std::move(window.loads));
  return window;
}

}  // namespace steelyard::cores
