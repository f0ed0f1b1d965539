#pragma once
#include <vector>

#include "observe/totals.h"

namespace steelyard::observe {

/// Efficiencies as POP and TALP split them; each is in [0, 1] and each line is the product of the indented ones below it.
///   parallel = mpi * openmp
///     mpi    = load_balance * communication,     load_balance = load_balance_in * load_balance_out
///     openmp = omp_load_balance * omp_scheduling * omp_serialisation
struct Metrics {
  double parallel = 1;
  double mpi = 1;
  double load_balance = 1;
  double load_balance_in = 1;    ///< inside the nodes: what `cores` can restore
  double load_balance_out = 1;   ///< across nodes
  double communication = 1;
  double openmp = 1;
  double omp_load_balance = 1;
  double omp_scheduling = 1;
  double omp_serialisation = 1;
};

struct RankLoad {
  int node = 0;
  int threads = 1;  ///< cores that the rank owned at start
  Totals totals;
};

/// Pure. Empty input and zero-length runs give 1 everywhere.
Metrics weigh(const std::vector<RankLoad>& ranks, double wall_seconds);

}  // namespace steelyard::observe
