// SPDX-License-Identifier: BSD-3-Clause
#include "cli/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/split.h"
#include "cli/launcher.h"
#include "node/cpu_set.h"

namespace steelyard::cli {
namespace {

using base::Environment;
using base::number_of;
using base::value_of;

/// The first of the variables that is set.
std::string first_of(const Environment& environment, std::initializer_list<std::string_view> variables) {
  for (const auto variable : variables) {
    if (const auto text = value_of(environment, variable); !text.empty()) return std::string(text);
  }
  return {};
}

/// Reads the number with which the text begins, if it does.
void number_in(std::string_view text, int& number) { std::from_chars(text.data(), text.data() + text.size(), number); }

/// "mask_cpu:0x3" of "quiet,mask_cpu:0x3"; "" where nothing is said.
std::string cpu_bind(const Environment& environment) {
  auto text = first_of(environment, {"SLURM_CPU_BIND"});
  for (const std::string word : {"quiet", "verbose"}) {
    if (text == word) return {};
    if (text.starts_with(word + ",")) text.erase(0, word.size() + 1);
  }
  return text;
}

std::string how_bound(const std::string& bind) { return bind.empty() ? "" : fmt::format(" (--cpu-bind={})", bind); }

/// Of the tasks of a node in turn, beginning again at its end: "sockets,mask_cpu:0x3,0xc". Empty for another binding.
std::vector<node::CpuSet> masks_of(std::string_view bind) {
  constexpr std::string_view kList = "mask_cpu:";
  const auto at = bind.find(kList);
  if (at == std::string_view::npos) return {};
  std::vector<node::CpuSet> masks;
  for (const std::string_view item : base::items_of(bind.substr(at + kList.size()), ",")) {
    auto mask = node::CpuSet::parse_mask(std::string(item));
    if (!mask) return {};
    masks.push_back(*std::move(mask));
  }
  return masks;
}

/// Some tasks of a node, and the CPUs that they have among them.
struct Sharers {
  int tasks = 0, cpus = 0;
};

/// Those with the least CPUs for each; `cpus` are this task's.
Sharers tightest(const Environment& environment, const std::string& bind, int cpus) {
  const int tasks = std::max(1, slurm_tasks_here(environment));
  if (bind == "none") return {tasks, cpus};
  Sharers found{1, cpus};
  const auto consider = [&](const Sharers& others) {
    if (others.cpus * found.tasks < found.cpus * others.tasks) found = others;
  };
  const auto masks = masks_of(bind);
  for (const node::CpuSet& mask : masks) {
    Sharers sharers{0, mask.count()};
    for (int task = 0; task < tasks; ++task) {
      if (masks[static_cast<std::size_t>(task) % masks.size()].within(mask)) ++sharers.tasks;
    }
    consider(sharers);
  }
  const int of_step = number_of(environment, "SLURM_CPUS_ON_NODE");
  if (masks.empty() && of_step > 0) consider({tasks, std::max(of_step, cpus)});
  return found;
}

/// Several tasks with too few CPUs among them; fits with an empty text where they have enough.
SlurmFinding examine_sharing(const Environment& environment, const std::string& bind, int cpus, int cores) {
  const int threads = std::max(1, number_of(environment, "OMP_NUM_THREADS"));
  const Sharers sharers = tightest(environment, bind, cpus);
  const int shared_cores = cores > 0 ? sharers.cpus * cores / cpus : sharers.cpus;
  if (sharers.tasks < 2 || sharers.tasks * threads <= shared_cores) return {true, ""};
  const std::string found =
      fmt::format("Slurm: {} tasks of this node share {} CPU{}{} for {} threads", sharers.tasks, sharers.cpus,
                  sharers.cpus == 1 ? "" : "s", how_bound(bind), sharers.tasks * threads);
  if (sharers.tasks * threads > sharers.cpus) {
    return {false, fmt::format("{}, which is oversubscription; use srun --cpus-per-task={}, or start fewer tasks on "
                               "a node",
                               found, threads)};
  }
  return {false,
          fmt::format("{}, on {} core{}, so several threads share a core (SMT); for one core per thread, start "
                      "fewer tasks on a node, or set OMP_NUM_THREADS={}",
                      found, shared_cores, shared_cores == 1 ? "" : "s", std::max(1, shared_cores / sharers.tasks))};
}

SlurmFinding examine_binding(const Environment& environment, int cpus, int cores) {
  const int threads = number_of(environment, "OMP_NUM_THREADS");
  const int asked = number_of(environment, "SLURM_CPUS_PER_TASK");
  const auto bind = cpu_bind(environment);
  if (threads > cpus) {
    return {false, fmt::format(
                       "Slurm: this task has {} CPU{}{} for {} threads (OMP_NUM_THREADS), which is oversubscription; "
                       "use srun --cpus-per-task={}{}",
                       cpus, cpus == 1 ? "" : "s", how_bound(bind), threads, threads,
                       asked >= threads ? "; since 22.05 srun takes that from sbatch only as SRUN_CPUS_PER_TASK" : "")};
  }
  if (auto sharing = examine_sharing(environment, bind, cpus, cores); !sharing.fits) return sharing;
  if (threads > cores && cores > 0) {
    return {
        false,
        fmt::format(
            "Slurm: this task has {} threads (OMP_NUM_THREADS) on {} core{} ({} CPUs){}, so several threads share a "
            "core (SMT); for one core per thread, use srun --hint=nomultithread --cpus-per-task={}",
            threads, cores, cores == 1 ? "" : "s", cpus, how_bound(bind), threads)};
  }
  if (cpus == 1) {
    const std::string unbound = bind == "none" ? "" : ", or --cpu-bind=none";
    return {false, fmt::format("Slurm: this task has one CPU{}, so it has no CPU to lend; use srun --cpus-per-task=N{}",
                               how_bound(bind), unbound)};
  }
  if (bind == "none") {
    return {true,
            fmt::format("Slurm: --cpu-bind=none: the tasks of a node share its {} CPUs, and Steelyard shares them out",
                        cpus)};
  }
  return {true, fmt::format("Slurm: {} CPUs for this task{}", cpus, how_bound(bind))};
}

}  // namespace

SlurmJob find_slurm_job(const Environment& environment) {
  SlurmJob found;
  found.job = first_of(environment, {"SLURM_JOB_ID", "SLURM_JOBID"});
  if (found.job.empty()) return {};
  found.step = first_of(environment, {"SLURM_STEP_ID", "SLURM_STEPID"});
  found.node_list = first_of(environment, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  return found;
}

int slurm_tasks_here(const Environment& environment) {
  const auto nodes = first_of(environment, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  int further = number_of(environment, "SLURM_NODEID");
  for (const std::string_view item : base::items_of(nodes, ",")) {  // "2(x3)": two tasks on each of three nodes
    int tasks = 0, times = 1;
    const std::vector<std::string_view> parts = base::split(item, "x");
    number_in(parts.front(), tasks);
    if (parts.size() > 1) number_in(parts[1], times);
    if (further < times) return tasks;
    further -= times;
  }
  return number_of(environment, "SLURM_NTASKS_PER_NODE");
}

std::vector<SlurmFinding> examine_slurm(const Environment& environment, int cpus, Mpi mpi, int cores) {
  const auto launcher = find_launcher(environment);
  if (launcher.kind != Launcher::Kind::slurm) return {};
  std::vector<SlurmFinding> findings;
  if (cpus > 0) findings.push_back(examine_binding(environment, cpus, cores));
  const bool meets = !first_of(environment, {"PMIX_RANK", "PMI_RANK", "PMI_FD", "PALS_RANKID"}).empty();
  if (mpi != Mpi::none && !meets) {
    findings.push_back(
        {false, fmt::format("Slurm: srun has not told this task how to meet others: where there are several, each "
                            "becomes an MPI job of one rank, or does not start; use srun --mpi={} (srun --mpi=list "
                            "says what there is)",
                            mpi == Mpi::openmpi ? "pmix" : "pmi2")});
  }
  return findings;
}

}  // namespace steelyard::cli
