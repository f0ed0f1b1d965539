#include "cli/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "cli/launcher.h"

namespace steelyard::cli {
namespace {

using base::Environment;
using base::value_of;

/// The first of the variables that is set.
std::string first_of(const Environment& environment, std::initializer_list<std::string_view> variables) {
  for (const auto variable : variables) {
    if (const auto text = value_of(environment, variable); !text.empty()) return std::string(text);
  }
  return {};
}

/// The number that a variable begins with ("6" of "6,2"); 0 where there is none.
int number(const Environment& environment, std::string_view variable) {
  const auto text = value_of(environment, variable);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max(value, 0);
}

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

SlurmFinding examine_binding(const Environment& environment, int cpus, int cores) {
  const int threads = number(environment, "OMP_NUM_THREADS");
  const int asked = number(environment, "SLURM_CPUS_PER_TASK");
  const auto bind = cpu_bind(environment);
  if (bind == "none") {
    return {true,
            fmt::format("Slurm: --cpu-bind=none: the tasks of a node share its {} CPU{}, and Steelyard shares them out",
                        cpus, cpus == 1 ? "" : "s")};
  }
  if (threads > cpus) {
    return {false,
            fmt::format(
                "Slurm: this task has {} CPU{}{} for {} threads (OMP_NUM_THREADS), so they take turns and no core can "
                "move; say srun --cpus-per-task={}{}",
                cpus, cpus == 1 ? "" : "s", how_bound(bind), threads, threads,
                asked >= threads ? "; since 22.05 srun takes that from sbatch only as SRUN_CPUS_PER_TASK" : "")};
  }
  if (threads > cores && cores > 0) {
    return {false,
            fmt::format(
                "Slurm: this task has {} threads (OMP_NUM_THREADS) on {} core{} ({} CPUs){}, so hardware threads of "
                "a core are taken, too; for a core a thread say srun --hint=nomultithread --cpus-per-task={}",
                threads, cores, cores == 1 ? "" : "s", cpus, how_bound(bind), threads)};
  }
  if (cpus == 1) {
    return {false,
            fmt::format("Slurm: this task has one CPU{}, so there is none to give away; say srun --cpus-per-task=N, or "
                        "--cpu-bind=none",
                        how_bound(bind))};
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

std::vector<SlurmFinding> examine_slurm(const Environment& environment, int cpus, Mpi mpi, int cores) {
  const auto launcher = find_launcher(environment);
  if (launcher.kind != Launcher::Kind::slurm) return {};
  std::vector<SlurmFinding> findings;
  if (cpus > 0) findings.push_back(examine_binding(environment, cpus, cores));
  const bool meets = !first_of(environment, {"PMIX_RANK", "PMI_RANK", "PMI_FD", "PALS_RANKID"}).empty();
  if (mpi != Mpi::none && !meets) {
    findings.push_back(
        {false,
         fmt::format(
             "Slurm: srun has not told this task how to meet others: where there are several, each becomes an MPI job of one "
             "rank, or does not start; say srun --mpi={} (srun --mpi=list says what there is)",
             mpi == Mpi::openmpi ? "pmix" : "pmi2")});
  }
  return findings;
}

}  // namespace steelyard::cli
