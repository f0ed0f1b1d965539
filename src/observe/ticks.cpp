// SPDX-License-Identifier: BSD-3-Clause
#include "observe/ticks.h"

namespace steelyard::observe {

std::size_t TickBoard::footprint(int processes) {
  return node::Segment::footprint<Ring>(static_cast<std::size_t>(processes) * kTickSources);
}

TickBoard::TickBoard(node::Segment& segment, int processes, int me)
    : rings_(segment.carve<Ring>(static_cast<std::size_t>(processes) * kTickSources)), me_(me) {}

std::int64_t TickBoard::count(int process, TickSource source) const {
  return ring(process, source).count.load(std::memory_order_acquire);
}

bool TickBoard::read(int process, TickSource source, std::int64_t index, Tick& tick) const {
  const Ring& theirs = ring(process, source);
  const auto kept = [&] {
    const std::int64_t count = theirs.count.load(std::memory_order_acquire);
    return index >= 0 && index < count && count - index < kKept;
  };
  if (!kept()) return false;
  tick = theirs.ticks[index % kKept];
  return kept();  // it may have been overwritten while it was read
}

}  // namespace steelyard::observe
