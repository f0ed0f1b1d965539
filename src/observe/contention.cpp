// SPDX-License-Identifier: BSD-3-Clause
#include "observe/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

/// A rank that waits in MPI polls on a core that it has lent: that the borrower has this core is no lack of cores.
/// @param borrowed by all ranks, ns
double run_delay_share(const RankRecord& rank, std::int64_t borrowed) {
  const double used = base::seconds(std::min(rank.totals.lent, borrowed)) / std::max(1, rank.threads_at_start);
  return rank.totals.wall > 0 ? std::max(0.0, rank.run_delay - used) / base::seconds(rank.totals.wall) : 0;
}

/// Which threads had the cores of the node of this rank, which waited longest for one.
std::string cause_for(const RankRecord& worst, const RunRecord& record) {
  const int node = worst.node;
  const auto found = std::ranges::find(record.nodes, node, &NodeRecord::index);
  int threads = 0;
  double used = 0, throttled = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.node != node) continue;
    threads += threads_run(rank);
    used += rank.cpu;
    throttled = std::max(throttled, rank.throttled);
  }
  const bool known = found != record.nodes.end();
  if (known && threads > found->cores) {
    const auto alike = [&](const NodeRecord& other) { return other.nothing_moved == found->nothing_moved; };
    if (!found->oversubscribed.empty() && std::ranges::all_of(record.nodes, alike))
      return "the line `moved` has the cause";
    return fmt::format("node {} has {} threads for {}; start fewer ranks or threads", node, threads,
                       plural(found->cores, "core"));
  }
  // How many cores are throttled together is not known. If all are, so much is the part of a thread; in one case of two
  // ranks that took turns, it was half of what this thread had.
  const int together = std::max(1, known ? std::min(threads, found->cores) : threads);
  if (throttled / together > worst.run_delay / 4) {
    return fmt::format(
        "the CPU quota of the container or batch job (cgroup) throttled node {} for {:.3g} core s; start fewer ranks "
        "or threads, or request a larger CPU quota",
        node, throttled);
  }
  // Other programs had too little of the cores to be the cause.
  if (known && used > (1 - record.thresholds.run_delay) * found->cores * record.wall) {
    return fmt::format("the ranks of node {} used all of its cores themselves; start fewer ranks or threads", node);
  }
  return "other programs ran there; measure again without them";
}

}  // namespace

std::string contention(const RunRecord& record) {
  const Thresholds& thresholds = record.thresholds;
  if (record.instrument != "real" || record.wall < thresholds.judged_wall || record.ranks.empty()) return "";
  std::int64_t borrowed = 0;
  for (const RankRecord& rank : record.ranks) borrowed += rank.totals.borrowed;
  const bool lends = base::seconds(borrowed) > thresholds.borrowed_cores * record.wall;
  const auto share_of = [&](const RankRecord& rank) { return run_delay_share(rank, borrowed); };
  const RankRecord& worst = *std::ranges::max_element(record.ranks, {}, share_of);
  const double share = share_of(worst);
  if (!(share > (lends ? thresholds.run_delay_lending : thresholds.run_delay))) return "";
  return fmt::format("a thread of rank {} was ready to run but had no core for {} of the time: {}", worst.rank,
                     percent(share), cause_for(worst, record));
}

std::string yielded(const RunRecord& record) {
  std::set<int> oversubscribed;  // nodes
  for (const NodeRecord& node : record.nodes) {
    if (!node.oversubscribed.empty()) oversubscribed.insert(node.index);
  }
  if (oversubscribed.empty() || option_of(record, "observe") == "on" || option_of(record, "wait") != "sleep") return "";
  const bool waited = std::ranges::any_of(record.ranks, [&](const RankRecord& rank) {
    const double share =
        static_cast<double>(rank.totals.mpi) / static_cast<double>(std::max<std::int64_t>(1, rank.totals.wall));
    return oversubscribed.contains(rank.node) && share >= record.thresholds.mpi_share;
  });
  const bool idle_sleep = option_of(record, "blocktime") == "0";
  if (!waited && !idle_sleep) return "";
  std::string text = "idle threads";
  if (waited) text = idle_sleep ? "ranks that waited in MPI, and idle threads," : "ranks that waited in MPI";
  return text + " left their cores to threads that had none";
}

}  // namespace steelyard::observe
