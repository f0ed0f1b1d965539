// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "observe/record.h"

// Records for tests, as runs would leave them.
namespace steelyard::observe {

inline constexpr std::int64_t kMillisecond = 1'000'000;

/// A rank that computed for `busy_ms` in regions of `threads` threads and then waited in MPI until `wall_ms`.
inline RankRecord sample_rank(int number, int node, int threads, std::int64_t busy_ms, std::int64_t wall_ms) {
  RankRecord rank;
  rank.rank = number;
  rank.node = node;
  rank.pid = 1000 + number;
  rank.openmp = true;
  rank.threads_at_start = rank.threads_at_end = threads;
  rank.thread_ceiling = 2 * threads;
  Totals& t = rank.totals;
  t.wall = wall_ms * kMillisecond;
  t.region_wall = busy_ms * kMillisecond;
  t.mpi = t.wall - t.region_wall;
  t.omp_imbalance = t.region_wall * threads / 50;
  t.omp_scheduling = t.region_wall * threads / 100;
  t.region_useful = t.region_wall * threads - t.omp_imbalance - t.omp_scheduling;
  t.mpi_capacity = t.mpi * threads;
  t.capacity = t.region_wall * threads + t.mpi_capacity;
  t.regions = 400;
  t.mpi_calls = 200;
  return rank;
}

inline NodeRecord sample_node(int index, int ranks, int cores) {
  NodeRecord node;
  node.index = index;
  node.host = "node" + std::to_string(index);
  node.ranks = ranks;
  node.cores = cores;
  node.topology = "2 packages x " + std::to_string(cores / 2) + " cores";
  node.phase_source = "collectives";
  node.phases = 200;
  node.phase_before = 0.0612;
  node.phase_before_low = 0.061;
  node.phase_before_high = 0.0614;
  return node;
}

inline RunRecord sample_run() {
  RunRecord record;
  record.version = "0.1.0";
  record.started = "2025-03-01T12:00:00Z";
  record.command = {"./miniFE.x", "nx=264", "ny=256"};
  record.options = {{"cores", "on"}};
  record.mpi = "Open MPI 4.1.4";
  record.openmp = "LLVM OpenMP";
  record.instrument = "real";
  record.intercepted = {"OpenMP regions", "MPI (C)"};
  return record;
}

inline void update_metrics(RunRecord& record) {
  record.wall = 0;
  std::vector<RankLoad> loads;
  for (const RankRecord& rank : record.ranks) {
    record.wall = std::max(record.wall, static_cast<double>(rank.totals.wall) * 1e-9);
    loads.push_back({rank.node, rank.threads_at_start, rank.totals});
  }
  record.metrics = metrics_of(loads, record.wall);
}

inline DecisionRecord sample_move(double time, int node, Outcome outcome) {
  DecisionRecord move;
  move.time = time;
  move.node = node;
  move.capability = "cores";
  move.what = "threads 6,6,6,6,6,6,6,6 -> 9,7,7,6,6,5,4,4";
  move.reason = "integer optimum: the slowest rank computes 0.061 -> 0.048 s per step, gain 22.1 %, uncertainty 1.2 %";
  move.forecast_gain = 0.221;
  move.forecast_low = 0.209;
  move.forecast_high = 0.233;
  move.cost = 0.0009;
  move.outcome = outcome;
  return move;
}

/// 8 ranks x 6 threads on an emulated node; moved once, and it helped. Every member of the record says something.
inline RunRecord rich_run() {
  RunRecord record = sample_run();
  record.instrument = "emulated";
  const std::int64_t busy[] = {12200, 11000, 10800, 8800, 8700, 8600, 8500, 8400};
  const int threads[] = {9, 7, 7, 6, 6, 5, 4, 4};
  for (int i = 0; i < 8; ++i) {
    RankRecord rank = sample_rank(i, 0, 6, busy[i], 12300);
    rank.threads_at_end = threads[i];
    if (i > 2) rank.waited_for = {{0, 3.1}, {1, 0.25}};
    rank.timeline = pack(
        std::vector<Sample>{{0, 0.5, 2.5, 0.125, 0.0625, 6}, {0.5, 12.3, 60.25, 1.5, 0.75, threads[i], 0.5, 0.25}});
    record.ranks.push_back(rank);
  }
  record.ranks[5].paused = 0.25;
  record.ranks[7].totals.lent = 3100 * kMillisecond;
  record.ranks[0].totals.borrowed = 2400 * kMillisecond;
  record.ranks[6].fixed_reason = "the program sets num_threads(4)";
  NodeRecord node = sample_node(0, 8, 48);
  node.emulated = true;
  node.phase_after = 0.0478;
  node.phase_after_low = 0.0476;
  node.phase_after_high = 0.048;
  record.nodes.push_back(node);
  DecisionRecord declined = sample_move(0.4, 0, Outcome::declined);
  declined.what.clear();
  declined.reason = "the loads are new: waiting for a second window that agrees";
  declined.repeats = 3;
  record.decisions.push_back(declined);
  record.loops.push_back({"app+0x1a2b", 2, 400, 400'000, 6, "steal", "the fastest of those tried", 0.9, 0.02, 0.06,
                          "even", 0.12, 0.11, 0.13});
  record.kept_regions = {{"app+0x2c3d", "smooth", false, 8, 7.7}, {"app+0x3e4f", "", true, 2, 1.9}};
  record.other_regions = {{"app+0x4f50", "assemble", true, 8, 320, 2, 4.5, 7.2, 0.8},
                          {"app+0x5a6b", "write_behind", false, 1, 12, 2, 1.5, 2.0, 0.4}};
  for (const RankRecord& rank : record.ranks) {
    const Totals totals = sample_rank(rank.rank, 0, 6, busy[rank.rank] / 2, 6200).totals;
    add_regions(record.regions, {{"solve", 0, {}, {{rank.rank, 40, totals}}}});
  }
  add_regions(record.regions, {{"output", 0, {}, {{0, 1, sample_rank(0, 0, 6, 90, 100).totals}}}});
  record.decisions.push_back(sample_move(1.2, 0, Outcome::confirmed));
  record.decisions.back().measured_gain = 0.219;
  record.decisions.back().measured_low = 0.215;
  record.decisions.back().measured_high = 0.223;
  record.remarks = {"rank 6: the program sets num_threads(4): its thread count was not changed"};
  update_metrics(record);
  derive_regions(record);
  return record;
}

}  // namespace steelyard::observe
