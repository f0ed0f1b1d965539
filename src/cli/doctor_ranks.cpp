// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/printable.h"
#include "observe/text.h"

namespace steelyard::cli {
namespace {

using Level = Finding::Level;

/// Ranks, their threads, and the CPUs that they share.
struct Sharers {
  std::vector<int> ranks;
  int threads = 0;
  node::CpuSet cpus;
};

/// The ranks whose affinity mask lies within `cpus`.
Sharers sharers_of(const node::CpuSet& cpus, const std::vector<RankReport>& reports) {
  Sharers sharers{{}, 0, cpus};
  for (const auto& report : reports) {
    if (!report.mask.within(cpus)) continue;
    sharers.ranks.push_back(report.rank);
    sharers.threads += report.threads;
  }
  return sharers;
}

node::CpuSet all_cpus(const std::vector<RankReport>& reports) {
  node::CpuSet all;
  for (const auto& report : reports) all = all | report.mask;
  return all;
}

int cores_of(const node::CpuSet& cpus, const node::Topology& topology) {
  std::set<int> cores;
  for (const auto& pu : topology.pus) {
    if (cpus.has(pu.os_index)) cores.insert(pu.core);
  }
  return static_cast<int>(cores.size());
}

/// All ranks if together they have more threads than `room_of` their CPUs, else the ranks of the fullest affinity mask
/// that have. Without ranks if there are none.
template <class RoomOf>
Sharers without_room(const std::vector<RankReport>& reports, RoomOf&& room_of) {
  if (auto all = sharers_of(all_cpus(reports), reports); all.threads > room_of(all.cpus)) return all;
  Sharers fullest;
  for (const auto& report : reports) {
    auto sharers = sharers_of(report.mask, reports);
    const int room = room_of(sharers.cpus);
    if (sharers.threads <= room) continue;
    if (fullest.ranks.empty() || sharers.threads * room_of(fullest.cpus) > fullest.threads * room)
      fullest = std::move(sharers);
  }
  return fullest;
}

std::string wider_binding(Launcher::Kind launcher, int threads) {
  switch (launcher) {
    case Launcher::Kind::openmpi: return fmt::format("use mpirun --map-by slot:PE={}", threads);
    case Launcher::Kind::hydra:
      return fmt::format("use mpirun -bind-to core:{}, or set I_MPI_PIN_DOMAIN={} (Intel MPI)", threads, threads);
    case Launcher::Kind::flux: return fmt::format("use flux run --cores-per-task={}", threads);
    case Launcher::Kind::slurm:
    case Launcher::Kind::none: break;
  }
  return "bind each rank to more CPUs";
}

std::string advice(const std::vector<RankReport>& reports, const node::Topology& topology, Launcher::Kind launcher) {
  const int ranks = static_cast<int>(reports.size());
  const int cores = static_cast<int>(node::one_pu_per_core(topology).pus.size());
  int threads = 0, most = 1;
  for (const auto& report : reports) {
    threads += report.threads;
    most = std::max(most, report.threads);
  }
  if (threads <= cores) return wider_binding(launcher, most);
  const auto at_most = [](int count) {
    return fmt::format("start at most {} on this node", observe::plural(count, "rank"));
  };
  if (ranks > cores || ranks == 0) return at_most(cores);
  const std::string narrower = fmt::format("set OMP_NUM_THREADS={}", cores / ranks);
  return cores < most ? narrower : fmt::format("{}, or {}", narrower, at_most(cores / most));
}

}  // namespace

std::string to_text(const RankReport& report) {
  auto text = fmt::format("{} {} {}\n", report.rank, report.threads, node::to_text(report.mask));
  for (const auto& finding : report.findings)
    text += fmt::format("{} {}\n", static_cast<int>(finding.level), base::printable(finding.text));
  return text;
}

std::optional<RankReport> report_from(const std::string& text) {
  RankReport report;
  std::istringstream lines(text);
  std::string line, mask;
  if (!std::getline(lines, line)) return std::nullopt;
  std::istringstream head(line);
  if (!(head >> report.rank >> report.threads)) return std::nullopt;
  head >> mask;
  auto cpus = node::CpuSet::parse(mask);
  if (!cpus) return std::nullopt;
  report.mask = *std::move(cpus);
  while (std::getline(lines, line)) {
    if (line.size() < 2 || line[0] < '0' || line[0] > '2' || line[1] != ' ') return std::nullopt;
    report.findings.push_back({static_cast<Level>(line[0] - '0'), line.substr(2)});
  }
  return report;
}

std::vector<Finding> merged(const std::vector<RankReport>& reports) {
  struct Entry {
    Finding finding;
    std::set<int> ranks;
  };
  std::vector<Entry> entries;
  for (const auto& report : reports) {
    auto next = entries.end();  // where a finding goes that no rank before has had
    for (const auto& finding : report.findings) {
      auto found = std::ranges::find_if(entries, [&](const Entry& entry) {
        return entry.finding.level == finding.level && entry.finding.text == finding.text;
      });
      if (found == entries.end()) found = entries.insert(next, {finding, {}});
      found->ranks.insert(report.rank);
      next = found + 1;
    }
  }
  std::vector<Finding> findings;
  for (auto& [finding, ranks] : entries) {
    if (ranks.size() < reports.size())
      finding.text = fmt::format("{}: {}", observe::rank_list({ranks.begin(), ranks.end()}), finding.text);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> examine_node(const std::vector<RankReport>& reports, const node::Topology& topology, double quota,
                                  Launcher::Kind launcher) {
  std::vector<Finding> findings;
  const auto note = [&](std::string text) { findings.push_back({Level::note, std::move(text)}); };
  const int cpus = all_cpus(reports).count();
  if (quota > 0 && quota < cpus) {
    note(
        fmt::format("CPUs: the cgroup's CPU quota is {:.3g} CPUs, and the affinity masks here have {}; more threads "
                    "are throttled",
                    quota, cpus));
  }
  // The doctor knows more of Slurm (slurm.h). Without a launcher, or on an emulated node, CPUs say nothing of a run.
  if (launcher == Launcher::Kind::slurm || launcher == Launcher::Kind::none || topology.emulated || cpus == 0)
    return findings;
  const auto found = [&](const Sharers& sharers) {
    return fmt::format("CPUs: {} {} {} for {} (CPUs {})", observe::rank_list(sharers.ranks),
                       sharers.ranks.size() == 1 ? "has" : "have", observe::plural(sharers.threads, "thread"),
                       observe::plural(cores_of(sharers.cpus, topology), "core"), node::to_text(sharers.cpus));
  };
  if (const auto sharers = without_room(reports, [](const node::CpuSet& set) { return set.count(); });
      !sharers.ranks.empty()) {
    note(fmt::format("{}, which is oversubscription; {}", found(sharers), advice(reports, topology, launcher)));
  } else if (const auto pressed =
                 without_room(reports, [&](const node::CpuSet& set) { return cores_of(set, topology); });
             !pressed.ranks.empty()) {
    note(fmt::format("{}, so several threads share a core (SMT); for one core per thread, {}", found(pressed),
                     advice(reports, topology, launcher)));
  }
  return findings;
}

}  // namespace steelyard::cli
