// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

#include "base/environment.h"
#include "base/options.h"

namespace steelyard::cli {

/// The launcher that started this rank, as far as its environment tells.
struct Launcher {
  enum class Kind { none, openmpi, hydra, flux, slurm };
  Kind kind = Kind::none;
  int rank = -1;  ///< -1 where it is not known
  int size = 0;   ///< ranks of the job; 0 where it is not known

  std::string_view name() const;
  /// The one rank that speaks for all; also where ranks are not known.
  bool speaks() const { return rank <= 0; }
};

/// The MPI to which the launcher belongs; automatic where that cannot be told.
base::MpiFamily mpi_of_launcher(const base::Environment& environment);

Launcher find_launcher(const base::Environment& environment);

/// True for programs such as mpirun, that start ranks: `steelyard run` belongs behind them.
bool is_launcher_program(std::string_view program);

}  // namespace steelyard::cli
