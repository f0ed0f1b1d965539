// SPDX-License-Identifier: BSD-3-Clause
#include "observe/metrics.h"

#include <algorithm>
#include <map>

namespace steelyard::observe {
namespace {

struct Share {
  double outside_mpi = 0;
  double cores = 0;
};

// A process whose threads are not OpenMP's counts one core (totals.capacity), however many it runs on.
double measured_cores(const RankLoad& rank) {
  const double cores = std::max(rank.threads, 1);
  const Totals& t = rank.totals;
  if (t.regions > 0 || t.capacity <= 0 || t.wall <= 0) return cores;
  return std::min(cores, static_cast<double>(t.capacity) / static_cast<double>(t.wall));
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 1; }

}  // namespace

Metrics metrics_of(const std::vector<RankLoad>& ranks, double wall_seconds) {
  Totals sum;
  Share all;
  std::map<int, Share> nodes;
  double busiest_rank = 0;
  for (const RankLoad& rank : ranks) {
    const double beyond = wall_seconds > 0 ? static_cast<double>(rank.totals.beyond_owned) / (wall_seconds * 1e9) : 0;
    const double cores = measured_cores(rank) + beyond;
    const auto outside = static_cast<double>(rank.totals.outside_mpi());
    sum += rank.totals;
    all.cores += cores;
    all.outside_mpi += outside;
    nodes[rank.node].cores += cores;
    nodes[rank.node].outside_mpi += outside;
    busiest_rank = std::max(busiest_rank, static_cast<double>(rank.totals.busy()));
  }
  double busiest_node = 0;
  for (const auto& [node, share] : nodes) busiest_node = std::max(busiest_node, share.outside_mpi / share.cores);

  // Core time, from what was really used up to what was there: each step up is one efficiency. Raising each to at least
  // the one below it keeps every ratio in [0, 1] and the product of all of them what it is.
  const double there = wall_seconds > 0 ? all.cores * wall_seconds * 1e9 : 0;
  const auto at_least = [&](double below, double value) { return std::clamp(value, below, there); };
  const double useful = at_least(0, static_cast<double>(sum.useful()));
  const double with_serialisation = at_least(useful, useful + static_cast<double>(sum.omp_serialisation));
  const double with_imbalance =
      at_least(with_serialisation, with_serialisation + static_cast<double>(sum.omp_imbalance));
  const double with_scheduling = at_least(with_imbalance, all.outside_mpi - static_cast<double>(sum.gpu_capacity));
  const double outside_mpi = at_least(with_scheduling, all.outside_mpi);
  const double if_nodes_were_alike = at_least(outside_mpi, all.cores * busiest_node);
  const double if_ranks_were_alike = at_least(if_nodes_were_alike, all.cores * busiest_rank);

  Metrics m;
  m.communication = ratio(if_ranks_were_alike, there);
  m.load_balance_in = ratio(if_nodes_were_alike, if_ranks_were_alike);
  m.load_balance_out = ratio(outside_mpi, if_nodes_were_alike);
  m.gpu = ratio(with_scheduling, outside_mpi);
  m.omp_scheduling = ratio(with_imbalance, with_scheduling);
  m.omp_load_balance = ratio(with_serialisation, with_imbalance);
  m.omp_serialisation = ratio(useful, with_serialisation);
  m.load_balance = m.load_balance_in * m.load_balance_out;
  m.mpi = m.load_balance * m.communication;
  m.openmp = m.omp_load_balance * m.omp_scheduling * m.omp_serialisation;
  m.parallel = m.mpi * m.openmp * m.gpu;
  return m;
}

RunningMetrics running_metrics_of(std::vector<RankLoad> ranks) {
  std::erase_if(ranks, [](const RankLoad& rank) { return rank.totals.wall <= 0; });
  std::int64_t longest = 0;
  for (const RankLoad& rank : ranks) longest = std::max(longest, rank.totals.wall);
  for (RankLoad& rank : ranks) {
    const double scale = static_cast<double>(longest) / static_cast<double>(rank.totals.wall);
    for (const TotalsField& field : kTotalsFields) {
      std::int64_t& value = rank.totals.*field.value;
      value = static_cast<std::int64_t>(static_cast<double>(value) * scale);
    }
  }
  const double seconds = static_cast<double>(longest) * 1e-9;
  return {seconds, static_cast<int>(ranks.size()), metrics_of(ranks, seconds)};
}

}  // namespace steelyard::observe
