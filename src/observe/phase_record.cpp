// SPDX-License-Identifier: BSD-3-Clause
#include "observe/phase_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decide/estimate.h"
#include "observe/record.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

std::string size_of(const PhaseConfiguration& it) { return fmt::format("{} x {}", it.processes, it.threads); }

bool compared(const PhaseConfiguration& it) { return std::isfinite(it.gain_low) && std::isfinite(it.gain_high); }

/// What the comparison of an autotuned phase has come to.
std::string result(const PhaseRecord& phase, double confidence) {
  const PhaseConfiguration& best = phase.configurations[static_cast<std::size_t>(phase.best)];
  const PhaseConfiguration& first = phase.configurations.front();  // most processes
  const auto count = static_cast<long>(phase.configurations.size());
  const long tried =
      std::ranges::count_if(phase.configurations, [](const PhaseConfiguration& it) { return it.seconds > 0; });
  if (count == 1) return "no other configuration is possible";
  if (tried < count) {
    return fmt::format("{} of {} configurations tried{}", tried, count,
                       phase.created == 1 ? " so far"
                                          : fmt::format(", as the phase was created {} times: create it once, so that "
                                                        "it can compare them",
                                                        phase.created));
  }
  std::string of = fmt::format("the fastest of {} configurations tried", count);
  if (phase.best == 0) return of;
  if (!compared(first))
    return fmt::format("{}: {} a run; {} took {} when it was tried", of, duration(best.seconds), size_of(first),
                       duration(first.seconds));
  if (!excludes_zero(first.gain_low, first.gain_high))
    return fmt::format("{}, without a significant difference from {}", of, size_of(first));
  return fmt::format("{}, {} ({}) less time than {}", of, percent(first.gain, 1),
                     decide::to_text({first.gain_low, first.gain_high}, confidence), size_of(first));
}

}  // namespace

std::vector<std::string> phase_lines(const RunRecord& record, std::size_t most) {
  std::vector<const PhaseRecord*> phases;
  for (const PhaseRecord& phase : record.phases) {
    if (!phase.configurations.empty()) phases.push_back(&phase);
  }
  std::ranges::stable_sort(phases, std::ranges::greater{}, &PhaseRecord::seconds);
  std::vector<std::string> lines;
  for (const PhaseRecord* phase : phases) {
    if (lines.size() == most) break;
    const PhaseConfiguration& best = phase->configurations[static_cast<std::size_t>(phase->best)];
    std::string line =
        fmt::format("{}: {} of {} processes with up to {}, at most {} for each {}{}", phase->number, best.processes,
                    phase->processes, plural(best.threads, "thread"), best.max_per_resource, best.resource,
                    record.nodes.size() > 1 ? fmt::format(", on node {}", phase->node) : "");
    if (phase->autotuned) line += "; " + result(*phase, confidence_of(record));
    lines.push_back(line + fmt::format("; {}, {}", plural(phase->runs, "run"), duration(phase->seconds)));
  }
  if (lines.size() < phases.size())
    lines.push_back(plural(static_cast<long>(phases.size() - lines.size()), "more phase") +
                    ": see `steelyard report --full`");
  return lines;
}

std::string phase_table(const RunRecord& record) {
  Table table({"phase", "of rank", "runs", "time s", "processes", "threads", "at most", "a run ms", "fastest saves"});
  for (const PhaseRecord& phase : record.phases) {
    for (std::size_t i = 0; i < phase.configurations.size(); ++i) {
      const PhaseConfiguration& it = phase.configurations[i];
      std::vector<std::string> row(4);  // of the phase: beside its first configuration
      if (i == 0)
        row = {std::to_string(phase.number), std::to_string(phase.rank), std::to_string(phase.runs),
               fmt::format("{:.3f}", phase.seconds)};
      row.push_back(fmt::format("{} of {}", it.processes, phase.processes));
      row.push_back(std::to_string(it.threads));
      row.push_back(fmt::format("{} for each {}", it.max_per_resource, it.resource));
      row.push_back(it.seconds > 0 ? fmt::format("{:.3f}", 1e3 * it.seconds) : "");
      row.push_back(!phase.autotuned                    ? ""
                    : static_cast<int>(i) == phase.best ? "is the fastest"
                    : !compared(it)                     ? "not compared"
                    : excludes_zero(it.gain_low, it.gain_high)
                        ? fmt::format("{} ({} to {})", percent(it.gain), percent(it.gain_low), percent(it.gain_high))
                        : "not significant");
      table.add(row);
    }
  }
  return "\nPhases of coupled libraries\n" + table.text();
}

}  // namespace steelyard::observe
