// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "observe/late_in_trees.h"
#include "observe/left_broadcasts.h"
#include "observe/other_region_record.h"
#include "observe/summary.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

std::string seconds(std::int64_t ns) { return fmt::format("{:.3f}", base::seconds(ns)); }

std::string paragraph(std::string_view head, std::string_view text) {
  std::string out;
  for (const std::string& line : wrapped(head, text, 100, 1000)) out += line + '\n';
  return out;
}

std::string facts(const RunRecord& record) {
  std::string out = "\nRun\n";
  out += paragraph("  command      ", fmt::format("{}", fmt::join(record.command, " ")));
  out += paragraph("  started      ", record.started);
  if (const SlurmRecord& slurm = record.slurm; !slurm.job.empty()) {
    out += paragraph("  Slurm        ",
                     fmt::format("job {}{} on {}", slurm.job, slurm.step.empty() ? "" : ", step " + slurm.step,
                                 slurm.node_list.empty() ? "nodes unknown" : slurm.node_list));
  }
  out += paragraph("  steelyard    ", record.version);
  out += paragraph("  MPI          ", record.mpi.empty() ? "none" : record.mpi);
  out +=
      paragraph("  OpenMP       ", !record.openmp.empty()        ? record.openmp
                                   : !record.openmp_tool.empty() ? "not measured: " + record.openmp_tool + " uses OMPT"
                                                                 : "none");
  out += paragraph("  intervals    ", fmt::format("of confidence {:g} %", 100 * confidence_of(record)));
  out += paragraph("  intercepted  ",
                   record.intercepted.empty() ? "nothing" : fmt::format("{}", fmt::join(record.intercepted, ", ")));
  return out;
}

/// "21.9 % (21.5 to 22.3 %)".
std::string with_bounds(double value, double low, double high) {
  return fmt::format("{} ({:.1f} to {:.1f} %)", percent(value, 1), 100 * low, 100 * high);
}

/// A mean of steps and its interval; nothing if no step was measured.
void add_step(std::vector<std::string>& row, double mean, double low, double high) {
  const bool measured = mean > 0;
  row.push_back(measured ? duration(mean) : "-");
  row.push_back(measured ? fmt::format("{} to {}", duration(low), duration(high)) : "-");
}

std::string nodes(const RunRecord& record) {
  Table table({"node", "host", "ranks", "cores", "topology", "steps", "marked by", "step before", "interval", "after",
               "interval"});
  std::string reasons;
  for (const NodeRecord& n : record.nodes) {
    std::vector<std::string> row{fmt::format("{}", n.index),
                                 n.host,
                                 fmt::format("{}", n.ranks),
                                 fmt::format("{}", n.cores),
                                 n.topology + (n.emulated ? " (emulated)" : ""),
                                 fmt::format("{}", n.phases),
                                 n.phase_source};
    add_step(row, n.phase_before, n.phase_before_low, n.phase_before_high);
    add_step(row, n.phase_after, n.phase_after_low, n.phase_after_high);
    table.add(row);
    if (!n.nothing_moved.empty())
      reasons += paragraph(fmt::format("  node {}: nothing moved: ", n.index), n.nothing_moved);
  }
  return "\nNodes\n" + table.text() + reasons;
}

std::string ranks(const RunRecord& record) {
  Table counts({"rank", "node", "threads", "at end", "at most", "regions", "MPI calls", "waited most for"});
  Table times({"rank", "busy s", "in MPI s", "useful thread s", "OpenMP lost", "lent core s", "borrowed"});
  for (const RankRecord& r : record.ranks) {
    const Totals& t = r.totals;
    const std::string rank = fmt::format("{}", r.rank);
    const auto cause = std::max_element(r.waited_for.begin(), r.waited_for.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
    counts.add({rank, fmt::format("{}", r.node), fmt::format("{}", r.threads_at_start),
                fmt::format("{}{}", r.threads_at_end, r.fixed_reason.empty() ? "" : " fixed"),
                fmt::format("{}", r.thread_ceiling), fmt::format("{}", t.regions), fmt::format("{}", t.mpi_calls),
                cause == r.waited_for.end() ? "" : fmt::format("rank {} ({:.3f} s)", cause->first, cause->second)});
    times.add({rank, seconds(t.busy()), seconds(t.mpi), seconds(t.useful()),
               seconds(t.omp_imbalance + t.omp_scheduling + t.omp_serialisation), seconds(t.lent),
               seconds(t.borrowed)});
  }
  return "\nRanks\n" + counts.text() + "\nTime of the ranks\n" + times.text();
}

std::string broadcasts(const RunRecord& record) {
  std::string out;
  for (const std::string& left : left_broadcasts(record)) out += paragraph("  ", left);
  for (const std::string& left : left_scatters(record)) out += paragraph("  ", left);
  for (const std::string& tree : late_in_trees(record)) out += paragraph("  ", tree);
  return out.empty() ? out : "\nBroadcasts\n" + out;
}

std::string loops(const RunRecord& record) {
  Table table({"loop", "ranks", "executions", "iterations each", "threads", "time", "idle", "moved", "divided by",
               "gain", "over"});
  std::string reasons;
  for (const LoopRecord& l : record.loops) {
    const bool ours = l.iterations > 0;
    table.add({l.site, fmt::format("{}", l.ranks), fmt::format("{}", l.executions),
               ours ? fmt::format("{:.6g}", static_cast<double>(l.iterations) / static_cast<double>(l.executions)) : "",
               l.threads > 0 ? fmt::format("{}", l.threads) : "", l.time > 0 ? duration(l.time) : "",
               l.time > 0 ? percent(l.idle, 1) : "", l.time > 0 ? percent(l.stolen, 1) : "", l.strategy,
               l.against.empty() ? "not measured" : with_bounds(l.gain, l.gain_low, l.gain_high), l.against});
    if (!l.reason.empty() && l.reason != "asked for")
      reasons += paragraph(fmt::format("  {}, {}: ", l.site, l.strategy), l.reason);
  }
  return "\nLoops\n" + table.text() + reasons;
}

std::string kept_regions(const RunRecord& record) {
  Table table({"region", "in", "why", "ranks", "time s"});
  for (const KeptRegion& region : record.kept_regions)
    table.add({region.site, region.function, region.repeats_work ? "shares out no work" : "queries thread IDs",
               std::to_string(region.ranks), fmt::format("{:.3f}", region.time)});
  return "\nRegions that kept their thread count\n" + table.text();
}

std::string tasks(const RunRecord& record) {
  Table flow({"rank", "spawned", "run", "from the node", "from other nodes", "results sent", "transfers", "messages",
              "connections", "of possible"});
  Table times({"rank", "runs", "in tasks thread s", "in runs", "share"});
  for (const TasksRecord& t : record.tasks) {
    const std::string rank = std::to_string(t.rank);
    flow.add({rank, std::to_string(t.spawned), std::to_string(t.executed), std::to_string(t.stolen_local),
              std::to_string(t.stolen_remote), std::to_string(t.results_sent), std::to_string(t.hops),
              std::to_string(t.messages), std::to_string(t.connections), std::to_string(t.degree)});
    times.add({rank, std::to_string(t.runs), fmt::format("{:.3f}", t.busy_seconds),
               fmt::format("{:.3f}", t.run_seconds), t.run_seconds > 0 ? percent(t.busy_seconds / t.run_seconds) : ""});
  }
  return "\nTasks\n" + flow.text() + "\nTime of the tasks\n" + times.text();
}

std::string decision(const DecisionRecord& d) {
  std::string out =
      paragraph(fmt::format("  {:>9}  ", duration(d.time)),
                fmt::format("node {}, {}: {}{}", d.node, d.capability, d.what.empty() ? "no plan" : d.what,
                            d.repeats > 1 ? fmt::format(" ({} times)", d.repeats) : ""));
  constexpr std::string_view kIndent = "             ";
  if (!d.reason.empty()) out += paragraph(kIndent, "why: " + d.reason);
  const bool was_forecast = d.forecast_gain != 0 || d.forecast_low != 0 || d.forecast_high != 0 || d.cost != 0;
  if (d.outcome == Outcome::declined && !was_forecast) return out;
  std::string outcome = fmt::format("{}: forecast {} less time, cost {}", word_of(d.outcome),
                                    with_bounds(d.forecast_gain, d.forecast_low, d.forecast_high), duration(d.cost));
  const bool undecided = d.outcome == Outcome::undecided && d.measured_high > d.measured_low;
  if (d.outcome == Outcome::confirmed || d.outcome == Outcome::undone || undecided) {
    outcome += "; measured " + with_bounds(d.measured_gain, d.measured_low, d.measured_high);
  }
  return out + paragraph(kIndent, outcome);
}

}  // namespace

std::string full_report(const RunRecord& record) {
  std::string out;
  for (const std::string& line : summary(record)) out += line + '\n';
  out += facts(record);
  if (!record.nodes.empty()) out += nodes(record);
  if (!record.ranks.empty()) out += ranks(record);
  out += broadcasts(record);
  if (!record.loops.empty()) out += loops(record);
  if (!record.regions.empty()) out += region_table(record);
  if (!record.kept_regions.empty()) out += kept_regions(record);
  if (!record.other_regions.empty()) out += other_region_table(record);
  if (!record.phases.empty()) out += phase_table(record);
  if (!record.tasks.empty()) out += tasks(record);
  if (!record.decisions.empty()) out += "\nDecisions\n";
  for (const DecisionRecord& d : record.decisions) out += decision(d);
  if (!record.remarks.empty()) out += "\nRemarks\n";
  for (const std::string& remark : record.remarks) out += paragraph("  ", remark);
  return out;
}

}  // namespace steelyard::observe
