// SPDX-License-Identifier: BSD-3-Clause
#include "observe/contention.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

double run_delay_share(const RankRecord& rank) {
  return rank.totals.wall > 0 ? rank.run_delay / base::seconds(rank.totals.wall) : 0;
}

/// Which threads had the cores of this node.
std::string cause_on(int node, const RunRecord& record) {
  const auto found = std::ranges::find(record.nodes, node, &NodeRecord::index);
  int threads = 0;
  double used = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.node != node) continue;
    threads += rank.threads_at_start;
    used += rank.cpu;
  }
  const bool known = found != record.nodes.end();
  if (known && threads > found->cores) {
    return fmt::format("node {} has {} threads for {}; start fewer ranks or threads", node, threads,
                       plural(found->cores, "core"));
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
  double borrowed = 0;
  for (const RankRecord& rank : record.ranks) borrowed += base::seconds(rank.totals.borrowed);
  const bool lends = borrowed > thresholds.borrowed_cores * record.wall;
  const RankRecord& worst = *std::ranges::max_element(record.ranks, {}, run_delay_share);
  const double share = run_delay_share(worst);
  if (!(share > (lends ? thresholds.run_delay_lending : thresholds.run_delay))) return "";
  return fmt::format("a thread of rank {} was ready to run but had no core for {} of the time: {}", worst.rank,
                     percent(share), cause_on(worst.node, record));
}

}  // namespace steelyard::observe
