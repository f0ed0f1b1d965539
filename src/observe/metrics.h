// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "observe/totals.h"

namespace steelyard::observe {

/// Efficiencies as POP and TALP split them; each is in [0, 1] and each line is the product of those below it:
///   parallel = mpi * openmp * gpu
///     mpi    = load_balance * communication,     load_balance = load_balance_in * load_balance_out
///     openmp = omp_load_balance * omp_scheduling * omp_serialisation
///
/// Terms of the POP Centre of Excellence; the split inside and across nodes and the OpenMP split are those of TALP
/// (DLB), in its multiplicative form. c_p are the cores that rank p owned at start (at most those of its `capacity`
/// if it had no OpenMP region), plus the mean number of threads beyond those that nested regions and regions of other
/// threads had (beyond_owned / T). C is their sum (C_n: on node
/// n), T the wall time of the run. Sums over all ranks of thread time: in useful work (U), lost by idle cores of a
/// process that computes alone (S), by waiting at OpenMP barriers (I), by fork and join (F) and by waiting for
/// accelerators (G). O = U + S + I + F + G is all thread time outside MPI (O_n: on node n), b_p the wall time of rank p
/// outside MPI, or in it while another thread of the rank ran a region:
///   parallel          = U / (C T)
///   communication     = max_p b_p / T                         1 where some rank never waits
///   load_balance_in   = max_n (O_n / C_n) / max_p b_p         1 where the ranks of the busiest node are equally busy
///   load_balance_out  = (O / C) / max_n (O_n / C_n)           1 where the nodes are equally busy
///   gpu               = (O - G) / O                           1 where no rank waits for an accelerator
///   omp_scheduling    = (O - G - F) / (O - G)
///   omp_load_balance  = (O - G - F - I) / (O - G - F)
///   omp_serialisation = U / (U + S)
/// Cores that a rank was given or borrowed later make O_p larger than c_p b_p. `parallel` is kept exact then, and each
/// of the others is cut to 1 at the cost of the next finer one.
struct Metrics {
  double parallel = 1;
  double mpi = 1;
  double load_balance = 1;
  double load_balance_in = 1;   ///< inside the nodes: what `cores` can restore
  double load_balance_out = 1;  ///< across nodes
  double communication = 1;
  double openmp = 1;
  double omp_load_balance = 1;
  double omp_scheduling = 1;
  double omp_serialisation = 1;
  double gpu = 1;
};

struct RankLoad {
  int node = 0;
  int threads = 1;  ///< cores that the rank owned at start
  Totals totals;
};

/// Pure. Empty input and zero-length runs give 1 everywhere.
Metrics metrics_of(const std::vector<RankLoad>& ranks, double wall_seconds);

/// Efficiencies while the program runs.
struct RunningMetrics {
  double seconds = 0;  ///< of the longest rank
  int ranks = 0;       ///< that have said something
  Metrics metrics;
};

/// Of readings that are not of the same moment: each rank is taken to go on as until its reading, up to the longest
/// wall time. Ranks without wall time are left out.
RunningMetrics running_metrics_of(std::vector<RankLoad> ranks);

}  // namespace steelyard::observe
