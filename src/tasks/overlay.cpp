// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/overlay.h"

namespace steelyard::tasks {

int Overlay::hops(std::int64_t from, std::int64_t to) const {
  int count = 0;
  for (; from != to; from = next(from, to)) ++count;
  return count;
}

std::int64_t Overlay::distance(std::int64_t from, std::int64_t to) const {
  const std::int64_t ahead = (to - from + size_) % size_;
  return ahead <= size_ / 2 ? ahead : ahead - size_;
}

}  // namespace steelyard::tasks
