// SPDX-License-Identifier: BSD-3-Clause
#include "observe/team_time.h"

#include <algorithm>

namespace steelyard::observe {

TeamParts& TeamParts::operator+=(const TeamParts& other) {
  useful += other.useful;
  imbalance += other.imbalance;
  scheduling += other.scheduling;
  gpu += other.gpu;
  gpu_waits += other.gpu_waits;
  tasks += other.tasks;
  nests |= other.nests;
  return *this;
}

void TeamParts::add_to(Totals& totals) const {
  totals.region_useful += useful;
  totals.omp_imbalance += imbalance;
  totals.omp_scheduling += scheduling;
  totals.gpu_capacity += gpu;
  totals.gpu_waits += gpu_waits;
  totals.omp_tasks += tasks;
}

std::int64_t done_at(const ThreadCell& cell, std::int64_t now) {
  const std::int64_t open = cell.open.load(std::memory_order_relaxed);
  const std::int64_t end = cell.end.load(std::memory_order_relaxed);
  return open != 0 ? open : end != 0 ? end : now;
}

std::int64_t waited_until(const ThreadCell& cell, std::int64_t came, std::int64_t done) {
  return std::clamp<std::int64_t>(cell.waited.load(std::memory_order_relaxed), 0, done - came);
}

TeamSplit split_team(const ThreadCell* cells, int team, std::int64_t begin, std::int64_t now) {
  std::int64_t last = begin;
  for (int i = 0; i < team; ++i) {
    if (cells[i].begin.load(std::memory_order_relaxed) != 0) last = std::max(last, done_at(cells[i], now));
  }
  last = std::min(last, now);
  TeamSplit split;
  for (int i = 0; i < team; ++i) {
    const ThreadCell& cell = cells[i];
    TeamParts& parts = i == 0 ? split.first : split.others;
    std::int64_t came = cell.begin.load(std::memory_order_relaxed);
    if (came == 0) {  // announced and never seen: all of it is the runtime's
      parts.scheduling += now - begin;
      continue;
    }
    came = std::min(came, last);  // clocks differ by some tens of ns
    const std::int64_t done = std::clamp(done_at(cell, now), came, last);
    const std::int64_t waited = waited_until(cell, came, done);
    std::int64_t working = done - came - waited;
    const std::int64_t forked = std::clamp<std::int64_t>(cell.forked.load(std::memory_order_relaxed), 0, working);
    working -= forked;
    const std::int64_t gpu = std::clamp<std::int64_t>(cell.gpu.load(std::memory_order_relaxed), 0, working);
    parts.useful += working - gpu;
    parts.imbalance += waited + last - done;
    parts.scheduling += forked + came - begin + now - last;
    parts.gpu += gpu;
    parts.gpu_waits += cell.gpu_waits.load(std::memory_order_relaxed);
    parts.tasks += cell.tasks.load(std::memory_order_relaxed);
    parts.nests |= forked > 0;
  }
  return split;
}

}  // namespace steelyard::observe
