// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "base/environment.h"
#include "cli/binary.h"

namespace steelyard::cli {

/// The job of Slurm that this process is in; empty strings outside of one.
struct SlurmJob {
  std::string job, step, node_list;
};
SlurmJob find_slurm_job(const base::Environment& environment);

/// Tasks of this step on this node; 0 where that is not known.
int slurm_tasks_here(const base::Environment& environment);

/// How Slurm started this task, as far as that matters here.
struct SlurmFinding {
  bool fits = false;
  std::string text;
};
/// `cpus`: how many this task's affinity mask has, on `cores` cores (0: not known). Nothing where srun has not started
/// this process.
std::vector<SlurmFinding> examine_slurm(const base::Environment& environment, int cpus, Mpi mpi, int cores = 0);

}  // namespace steelyard::cli
