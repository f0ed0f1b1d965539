// SPDX-License-Identifier: BSD-3-Clause
#include "observe/team_time.h"

#include <algorithm>

namespace steelyard::observe {

TeamParts& TeamParts::operator+=(const TeamParts& other) {
  useful += other.useful;
  imbalance += other.imbalance;
  scheduling += other.scheduling;
  gpu += other.gpu;
  mpi += other.mpi;
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
  totals.mpi_capacity += mpi;
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

// `last`: when the last thread of the team was done.
static TeamParts parts_of(const ThreadCell& cell, std::int64_t begin, std::int64_t last, std::int64_t now) {
  TeamParts parts;
  std::int64_t came = cell.begin.load(std::memory_order_relaxed);
  if (came == 0) {  // announced and never seen: all of it is the runtime's
    parts.scheduling = now - begin;
    return parts;
  }
  came = std::min(came, last);  // clocks differ by some tens of ns
  const std::int64_t done = std::clamp(done_at(cell, now), came, last);
  const std::int64_t waited = waited_until(cell, came, done);
  std::int64_t working = done - came - waited;
  const auto take = [&working](const std::atomic<std::int64_t>& part) {
    const std::int64_t taken = std::clamp<std::int64_t>(part.load(std::memory_order_relaxed), 0, working);
    working -= taken;
    return taken;
  };
  const std::int64_t forked = take(cell.forked);
  parts.gpu = take(cell.gpu);
  parts.mpi = take(cell.mpi);
  parts.useful = working;
  parts.imbalance = waited + last - done;
  parts.scheduling = forked + came - begin + now - last;
  parts.gpu_waits = cell.gpu_waits.load(std::memory_order_relaxed);
  parts.tasks = cell.tasks.load(std::memory_order_relaxed);
  parts.nests = forked > 0;
  return parts;
}

TeamSplit split_team(const ThreadCell* cells, int team, std::int64_t begin, std::int64_t now) {
  std::int64_t last = begin;
  for (int i = 0; i < team; ++i) {
    if (cells[i].begin.load(std::memory_order_relaxed) != 0) last = std::max(last, done_at(cells[i], now));
  }
  last = std::min(last, now);
  TeamSplit split;
  std::int64_t most_mpi = 0, most_useful = 0;
  for (int i = 0; i < team; ++i) {
    const TeamParts parts = parts_of(cells[i], begin, last, now);
    (i == 0 ? split.first : split.others) += parts;
    most_mpi = std::max(most_mpi, parts.mpi);
    most_useful = std::max(most_useful, parts.useful);
  }
  split.in_mpi = std::min(most_mpi, last - begin - most_useful);
  for (int i = 0; split.in_mpi > 0 && i < team; ++i) {
    const TeamParts parts = parts_of(cells[i], begin, last, now);
    const std::int64_t waited = std::clamp<std::int64_t>(split.in_mpi - parts.mpi, 0, parts.imbalance);
    TeamParts& sum = i == 0 ? split.first : split.others;
    sum.imbalance -= waited;
    sum.mpi += waited;
  }
  return split;
}

}  // namespace steelyard::observe
