// SPDX-License-Identifier: BSD-3-Clause
#include "observe/phase_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "observe/record.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

std::string size_of(const PhaseWay& way) { return fmt::format("{} x {}", way.processes, way.threads); }

/// What the comparison of an autotuned phase has come to.
std::string result(const PhaseRecord& phase) {
  const PhaseWay& best = phase.ways[static_cast<std::size_t>(phase.best)];
  const PhaseWay& first = phase.ways.front();  // most processes
  const long measured = std::ranges::count_if(phase.ways, [](const PhaseWay& way) { return way.seconds > 0; });
  const std::string of = fmt::format("of {} compared", plural(measured, "way"));
  if (measured < static_cast<long>(phase.ways.size()))
    return fmt::format("{} of {} tried so far", measured, plural(static_cast<long>(phase.ways.size()), "way"));
  if (measured == 1) return "no other way is possible";
  if (phase.best == 0) return "the fastest " + of;
  if (std::isfinite(first.gain_low) && excludes_zero(first.gain_low, first.gain_high))
    return fmt::format("the fastest {}, {} ({} to {}) less time than {}", of, percent(first.gain),
                       percent(first.gain_low), percent(first.gain_high), size_of(first));
  return fmt::format("the fastest {}, {} a run; {} took {}", of, duration(best.seconds), size_of(first),
                     duration(first.seconds));
}

}  // namespace

std::vector<std::string> phase_lines(const RunRecord& record, std::size_t most) {
  std::vector<const PhaseRecord*> phases;
  for (const PhaseRecord& phase : record.phases) {
    if (!phase.ways.empty()) phases.push_back(&phase);
  }
  std::ranges::stable_sort(phases, std::ranges::greater{}, &PhaseRecord::seconds);
  std::vector<std::string> lines;
  for (const PhaseRecord* phase : phases) {
    if (lines.size() == most) break;
    const PhaseWay& way = phase->ways[static_cast<std::size_t>(phase->best)];
    std::string line = fmt::format("{} of {} processes x {} ({} for each {}){}", way.processes, phase->processes,
                                   plural(way.threads, "thread"), way.max_per_resource, way.resource,
                                   record.nodes.size() > 1 ? fmt::format(" on node {}", phase->node) : "");
    if (phase->autotuned) line += ", " + result(*phase);
    lines.push_back(line + fmt::format("; {}, {}", plural(phase->runs, "run"), duration(phase->seconds)));
  }
  if (lines.size() < phases.size())
    lines.push_back(plural(static_cast<long>(phases.size() - lines.size()), "more phase") +
                    ": see `steelyard report --full`");
  return lines;
}

std::string phase_table(const RunRecord& record) {
  Table table({"phase of rank", "processes", "threads", "at most", "runs", "time s", "a run ms", "best saves"});
  for (const PhaseRecord& phase : record.phases) {
    for (std::size_t i = 0; i < phase.ways.size(); ++i) {
      const PhaseWay& way = phase.ways[i];
      const bool best = static_cast<int>(i) == phase.best;
      const bool compared = std::isfinite(way.gain_low) && std::isfinite(way.gain_high);
      table.add({best ? std::to_string(phase.rank) : "", fmt::format("{} of {}", way.processes, phase.processes),
                 std::to_string(way.threads), fmt::format("{} for each {}", way.max_per_resource, way.resource),
                 best ? std::to_string(phase.runs) : "", best ? fmt::format("{:.3f}", phase.seconds) : "",
                 way.seconds > 0 ? fmt::format("{:.3f}", 1e3 * way.seconds) : "",
                 best || !phase.autotuned ? ""
                 : compared
                     ? fmt::format("{} ({} to {})", percent(way.gain), percent(way.gain_low), percent(way.gain_high))
                     : "not compared"});
    }
  }
  return "\nPhases of coupled libraries\n" + table.text();
}

}  // namespace steelyard::observe
