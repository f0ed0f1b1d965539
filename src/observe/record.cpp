// SPDX-License-Identifier: BSD-3-Clause
#include "observe/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "base/clock.h"
#include "observe/fixed_threads.h"
#include "observe/other_region_record.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

/// Equal declined decisions are one, with a count.
bool repeats(const DecisionRecord& a, const DecisionRecord& b) {
  return a.outcome == Outcome::declined && b.outcome == Outcome::declined && a.node == b.node &&
         a.capability == b.capability && a.what == b.what && a.reason == b.reason;
}

void merge_repeats(std::vector<DecisionRecord>& decisions) {
  std::vector<DecisionRecord> merged;
  for (DecisionRecord& decision : decisions) {
    const auto latest =
        std::find_if(merged.rbegin(), merged.rend(), [&](const DecisionRecord& d) { return d.node == decision.node; });
    if (latest != merged.rend() && repeats(*latest, decision)) {
      latest->repeats += decision.repeats;
    } else {
      merged.push_back(std::move(decision));
    }
  }
  decisions = std::move(merged);
}

/// Ranks run the same program: one entry a loop. What the rank says in which it took longest stands for all.
void add_loops(std::vector<LoopRecord>& loops, const std::vector<LoopRecord>& more) {
  for (const LoopRecord& loop : more) {
    const auto known = std::ranges::find(loops, loop.site, &LoopRecord::site);
    if (known == loops.end()) {
      loops.push_back(loop);
      continue;
    }
    LoopRecord other = loop;
    if (other.time > known->time) std::swap(*known, other);
    const auto a = static_cast<double>(known->iterations), b = static_cast<double>(other.iterations);
    known->ranks += other.ranks;
    known->executions += other.executions;
    known->iterations += other.iterations;
    if (a + b <= 0) continue;
    known->idle = (known->idle * a + other.idle * b) / (a + b);
    known->stolen = (known->stolen * a + other.stolen * b) / (a + b);
  }
}

/// Ranks run the same program: one entry a region.
void add_kept_regions(std::vector<KeptRegion>& regions, std::vector<KeptRegion> more) {
  for (KeptRegion& region : more) {
    const auto known = std::ranges::find(regions, region.site, &KeptRegion::site);
    if (known == regions.end()) {
      regions.push_back(std::move(region));
    } else {
      known->ranks += region.ranks;
      known->time += region.time;
    }
  }
}

/// What was taken for too many threads at the start were threads that the program never used.
void correct_oversubscription(RunRecord& record) {
  for (NodeRecord& node : record.nodes) {
    if (node.oversubscribed != "threads" || !record.other_regions.empty()) continue;
    std::vector<int> expected, used;
    for (const RankRecord& rank : record.ranks) {
      if (rank.node != node.index) continue;
      expected.push_back(rank.threads_at_start);
      used.push_back(threads_run(rank));
    }
    if (used.empty() || std::accumulate(used.begin(), used.end(), 0) > node.cores) continue;
    const int most = std::ranges::max(used);
    if (most >= std::ranges::max(expected)) continue;  // another OMP_NUM_THREADS would not serve all ranks
    node.oversubscribed.clear();
    node.nothing_moved = fmt::format(
        "the program runs fewer threads than OMP_NUM_THREADS asks for: {} instead of {}, on {}; set OMP_NUM_THREADS={}",
        counts(used), counts(expected), plural(node.cores, "core"), most);
  }
}

/// "" if ranks may gain by more cores, or if it is not known how much time they spend in tasks, in regions of other
/// threads, or on cores that the program asks for.
std::string about_little_openmp(const RunRecord& record) {
  const bool judged = record.ranks.size() > 1 && record.wall >= record.thresholds.judged_wall;
  const bool others = !record.tasks.empty() || !record.other_regions.empty() ||
                      std::ranges::any_of(record.ranks, [](const RankRecord& r) { return !r.fixed_reason.empty(); });
  if (!judged || others) return "";
  double in_regions = 0, busy = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.totals.regions == 0) return "";
    in_regions += base::seconds(rank.totals.region_wall);
    busy += base::seconds(rank.totals.busy());
  }
  if (in_regions >= kWorthTelling * busy) return "";
  return fmt::format(
      "ranks compute in parallel regions for {} of their time outside MPI: more cores or threads per rank "
      "shorten nothing else",
      percent(in_regions / busy, 1));
}

}  // namespace

TasksRecord& TasksRecord::operator+=(const TasksRecord& other) {
  runs += other.runs;
  spawned += other.spawned;
  executed += other.executed;
  stolen_local += other.stolen_local;
  stolen_remote += other.stolen_remote;
  results_sent += other.results_sent;
  hops += other.hops;
  messages += other.messages;
  connections = std::max(connections, other.connections);
  degree = std::max(degree, other.degree);
  busy_seconds += other.busy_seconds;
  run_seconds += other.run_seconds;
  transport = std::max(transport, other.transport);  // in the order in which they stand in record.h
  return *this;
}

void merge(RunRecord& record, std::vector<Contribution> contributions) {
  std::stable_sort(contributions.begin(), contributions.end(),
                   [](auto& a, auto& b) { return a.rank.rank < b.rank.rank; });

  std::vector<std::string> remarks;
  std::map<std::string, std::vector<int>> remarked_by;
  std::map<int, std::int64_t> used_by_others;
  for (Contribution& c : contributions) {
    for (const auto& [owner, seconds] : c.borrowed_from) used_by_others[owner] += std::llround(seconds * 1e9);
    record.nodes.insert(record.nodes.end(), c.node.begin(), c.node.end());
    record.decisions.insert(record.decisions.end(), c.decisions.begin(), c.decisions.end());
    add_loops(record.loops, c.loops);
    add_kept_regions(record.kept_regions, std::move(c.kept_regions));
    add_other_regions(record.other_regions, std::move(c.other_regions));
    add_regions(record.regions, std::move(c.regions));
    record.phases.insert(record.phases.end(), c.phases.begin(), c.phases.end());
    record.tasks.insert(record.tasks.end(), c.tasks.begin(), c.tasks.end());
    record.trees.insert(record.trees.end(), c.trees.begin(), c.trees.end());
    for (const std::string& what : c.intercepted) add_new(record.intercepted, what);
    for (const std::string& remark : c.remarks) {
      add_new(remarks, remark);
      std::vector<int>& ranks = remarked_by[remark];
      if (ranks.empty() || ranks.back() != c.rank.rank) ranks.push_back(c.rank.rank);
    }
    record.ranks.push_back(std::move(c.rank));  // timelines are long
  }
  for (const std::string& remark : remarks) {
    add_new(record.remarks, remark_of(remarked_by[remark], contributions.size(), remark));
  }

  std::stable_sort(record.ranks.begin(), record.ranks.end(), [](auto& a, auto& b) { return a.rank < b.rank; });
  std::stable_sort(record.nodes.begin(), record.nodes.end(), [](auto& a, auto& b) { return a.index < b.index; });
  std::stable_sort(record.decisions.begin(), record.decisions.end(), [](auto& a, auto& b) { return a.time < b.time; });
  merge_repeats(record.decisions);
  std::stable_sort(record.loops.begin(), record.loops.end(), [](auto& a, auto& b) { return a.time > b.time; });
  std::ranges::stable_sort(record.kept_regions, std::greater(), &KeptRegion::time);
  std::ranges::stable_sort(record.other_regions, std::greater(), &OtherRegion::time);
  for (const KeptReason reason : kKeptReasons) {
    if (std::string remark = kept_remark(record, reason); !remark.empty()) record.remarks.push_back(std::move(remark));
  }

  correct_oversubscription(record);
  std::vector<RankLoad> loads;
  for (RankRecord& rank : record.ranks) {
    if (const auto used = used_by_others.find(rank.rank); used != used_by_others.end())
      rank.totals.lent = std::max(rank.totals.lent, used->second);
    record.wall = std::max(record.wall, base::seconds(rank.totals.wall));
    loads.push_back({rank.node, rank.threads_at_start, rank.totals});
  }
  if (std::string sentence = about_little_openmp(record); !sentence.empty())
    record.remarks.push_back(std::move(sentence));
  record.metrics = metrics_of(loads, record.wall);
  derive_regions(record);
}

std::string option_of(const RunRecord& record, const std::string& name) {
  const auto found = record.options.find(name);
  return found == record.options.end() ? std::string() : found->second;
}

double confidence_of(const RunRecord& record) {
  const double confidence = std::strtod(option_of(record, "confidence").c_str(), nullptr);
  return confidence > 0 && confidence < 1 ? confidence : 0.95;
}

}  // namespace steelyard::observe
