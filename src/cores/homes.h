// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "node/cpu_set.h"
#include "node/topology.h"

namespace steelyard::cores {

/// What one process brings along at start.
struct Arrival {
  node::CpuSet mask;           ///< CPUs that it was given
  int threads = 1;             ///< threads that its regions would have without us
  bool threads_chosen = true;  ///< the user chose that number (OMP_NUM_THREADS); otherwise it is the runtime's guess
  int rank = 0;                ///< in MPI_COMM_WORLD, for sentences
};

/// Which process each PU belongs to at start.
struct Homes {
  std::vector<int> home;       ///< by PU of the topology: process, or -1 for nobody
  std::vector<int> threads;    ///< by process
  std::vector<bool> usable;    ///< by PU: in somebody's mask, and the first of its core unless it is a home
  int cores = 0;               ///< in all masks together, whatever their hardware threads
  bool masks_overlap = false;  ///< processes were not bound apart by the launcher
  std::string problem;         ///< why cores cannot be moved between these processes; empty where they can
};

/// Pure. Every process gets one PU a thread inside its own mask (a second PU of a core only where its threads outnumber
/// the cores), neighbours first. Processes with the same mask share it in the order of their ranks; where the user
/// chose no thread count they share it evenly.
Homes share_out(const node::Topology& topology, const std::vector<Arrival>& arrivals);

}  // namespace steelyard::cores
