// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/options.h"

namespace steelyard::cli {

/// The launcher that started this rank, as far as its environment tells.
struct Launcher {
  enum class Kind { none, openmpi, hydra, flux, slurm };
  Kind kind = Kind::none;
  int rank = -1;          ///< -1 where it is not known
  int size = 0;           ///< ranks of the job; 0 where it is not known
  int ranks_on_node = 0;  ///< of these, on this node; 0 where it is not known
  int rank_on_node = -1;  ///< among those on this node; -1 where it is not known

  std::string_view name() const;
  bool is_alone_on_node() const { return kind == Kind::none || size == 1 || ranks_on_node == 1; }
  /// The one rank that speaks for all; also where ranks are not known.
  bool speaks() const { return rank <= 0; }
};

/// The MPI to which the launcher belongs; automatic where that cannot be told.
base::MpiFamily mpi_of_launcher(const base::Environment& environment);

Launcher find_launcher(const base::Environment& environment);

/// The process on this node by which `launcher` has started this rank: the nearest above this one that is no rank. A
/// shell or a wrapper that the launcher has started counts as a rank. 0 if it is not known.
pid_t process_of(const Launcher& launcher);

/// The batch job that this process is in, by its scheduler (Flux, Slurm, PBS, LSF), in characters fit for a file name;
/// empty outside of a job.
std::string batch_job(const base::Environment& environment);

/// The name of the run record by default: "steelyard-run.json", or "steelyard-run.JOB.json" in a batch job.
std::string record_name(const base::Environment& environment);

}  // namespace steelyard::cli
