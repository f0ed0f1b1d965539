// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>

#include "cli/slurm.h"

namespace steelyard::cli {
namespace {

using base::Environment;
using base::value_of;

/// The first of the variables that holds a number of its own; `otherwise` where none does.
int first_number(const Environment& environment, std::initializer_list<std::string_view> variables, int otherwise) {
  for (const auto variable : variables) {
    const auto text = value_of(environment, variable);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  }
  return otherwise;
}

/// A job script under Slurm sees SLURM_PROCID, and so do the ranks that an mpirun in it starts: mpirun's come first.
Launcher::Kind kind_of(const Environment& environment) {
  const auto has = [&](std::string_view variable) { return !value_of(environment, variable).empty(); };
  if (has("OMPI_COMM_WORLD_SIZE")) return Launcher::Kind::openmpi;
  if (has("PMI_RANK") && has("MPI_LOCALNRANKS")) return Launcher::Kind::hydra;
  if (has("FLUX_TASK_RANK")) return Launcher::Kind::flux;
  if (has("SLURM_PROCID")) return Launcher::Kind::slurm;
  return Launcher::Kind::none;
}

/// What the environment that a process was started with says; no launcher if /proc does not tell.
Launcher launcher_of(pid_t process) {
  Environment environment;
  std::ifstream file(fmt::format("/proc/{}/environ", process));
  for (std::string line; std::getline(file, line, '\0');) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) environment.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return find_launcher(environment);
}

pid_t parent_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;) {
    if (pid_t parent = 0; word == "PPid:" && status >> parent) return parent;
  }
  return 0;
}

}  // namespace

std::string_view Launcher::name() const {
  switch (kind) {
    case Kind::openmpi: return "Open MPI's mpirun";
    case Kind::hydra: return "MPICH's mpirun (Hydra)";
    case Kind::flux: return "Flux";
    case Kind::slurm: return "Slurm's srun";
    case Kind::none: break;
  }
  return "no launcher";
}

Launcher find_launcher(const Environment& environment) {
  Launcher launcher;
  launcher.kind = kind_of(environment);
  launcher.rank = first_number(environment,
                               {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "FLUX_TASK_RANK"}, -1);
  launcher.size = first_number(environment, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "FLUX_JOB_SIZE"}, 0);
  launcher.ranks_on_node = launcher.kind == Launcher::Kind::slurm
                               ? slurm_tasks_here(environment)
                               : first_number(environment, {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 0);
  launcher.rank_on_node =
      first_number(environment, {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, -1);
  return launcher;
}

base::MpiFamily mpi_of_launcher(const Environment& environment) {
  const auto has = [&](std::string_view variable) { return !value_of(environment, variable).empty(); };
  switch (kind_of(environment)) {
    case Launcher::Kind::openmpi: return base::MpiFamily::openmpi;
    case Launcher::Kind::hydra: return base::MpiFamily::mpich;
    // Slurm and Flux start any MPI: by PMIx (Open MPI's way), or by PMI-1 and PMI-2 (MPICH's way).
    case Launcher::Kind::slurm:
    case Launcher::Kind::flux:
      if (has("PMIX_RANK")) return base::MpiFamily::openmpi;
      if (has("PMI_RANK") || has("PMI_FD")) return base::MpiFamily::mpich;
      break;
    case Launcher::Kind::none: break;
  }
  return base::MpiFamily::automatic;
}

pid_t process_of(const Launcher& launcher) {
  pid_t process = getppid();
  while (process > 0 && launcher_of(process).kind == launcher.kind) process = parent_of(process);
  return process;
}

std::string batch_job(const Environment& environment) {
  std::string_view text, index;
  // A Flux instance can be a job of another scheduler: it comes first.
  for (const auto variable : {"FLUX_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (text = value_of(environment, variable); text.empty()) continue;
    if (variable == std::string_view("PBS_JOBID"))
      text = text.substr(0, text.find('.'));  // "12.server", "12[3].server"
    if (variable == std::string_view("LSB_JOBID")) index = value_of(environment, "LSB_JOBINDEX");
    break;
  }
  std::string job(text);
  if (!index.empty() && index != "0") job += fmt::format("-{}", index);  // of a job array
  std::string name;
  for (const char c : job) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  if (name.ends_with('-')) name.pop_back();
  return name;
}

std::string record_name(const Environment& environment) {
  const auto job = batch_job(environment);
  return job.empty() ? "steelyard-run.json" : fmt::format("steelyard-run.{}.json", job);
}

}  // namespace steelyard::cli
