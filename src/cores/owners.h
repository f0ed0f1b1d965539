// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cores/plan.h"
#include "node/cpu_set.h"
#include "node/topology.h"

namespace steelyard::cores {

/// One process at its start.
struct Arrival {
  node::CpuSet mask;           ///< affinity mask: the CPUs that it was given
  int threads = 1;             ///< threads that its regions would have without Steelyard
  bool threads_chosen = true;  ///< the user chose that number (OMP_NUM_THREADS); otherwise it is the runtime's guess
  int rank = 0;                ///< in MPI_COMM_WORLD, for messages
};

/// The owner of each PU at the start.
struct Owners {
  std::vector<int> owner;        ///< by PU of the topology: its process; -1: none
  std::vector<int> threads;      ///< by process
  std::vector<bool> usable;      ///< by PU: in an affinity mask, and the first of its core unless it has an owner
  int cores = 0;                 ///< in all affinity masks together, however many hardware threads they have
  bool masks_overlap = false;    ///< affinity masks of processes overlap: the launcher did not bind them apart
  std::string immovable_reason;  ///< why cores cannot move between these processes; empty if they can
  std::string oversubscribed;    ///< then: "ranks" or "threads", of which there are more than cores
  /// By slot: its process. A slot is the place of one thread on a node with more threads than cores: cores do not move
  /// between these processes, but as long as fewer threads compute than there are cores, slots are lent instead. Empty
  /// if there are enough cores, if no process can use another slot, or if some processes cannot run on each other's
  /// cores.
  std::vector<int> slots;
};

/// Pure. Each process gets one PU per thread inside its own affinity mask, neighbours first; a second PU of a core only
/// if it has more threads than cores. Processes with the same affinity mask share it in the order of their ranks, and
/// evenly if the user chose no thread count.
Owners share_out(const node::Topology& topology, const std::vector<Arrival>& arrivals);

/// The owner of each core under a plan, with as few changes of owners as possible. Domain -1: any.
std::vector<int> owners_after(const std::vector<int>& owner, const std::vector<bool>& usable,
                              const std::vector<int>& domain, const Plan& plan);

}  // namespace steelyard::cores
