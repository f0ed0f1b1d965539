// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

#include "node/cpu_set.h"

namespace steelyard::node {

/// One process of the node, as the others see it in shared memory.
struct alignas(64) Process {
  // Written by its owner before the first barrier_in_node(), then constant; threads_at_start until start() returns.
  std::int32_t world_rank;
  std::int32_t threads_at_start;  // that it brings; from settle_cores() on, its cores
  bool threads_chosen;
  SharedCpuSet mask;  // CPUs that the launcher gave it

  // Written by its owner at any time.
  alignas(64) std::atomic<std::int32_t> in_mpi;  // its primary thread is in a blocking MPI call
  std::atomic<std::int32_t> finished;            // it has called MPI_Finalize
  std::atomic<std::int32_t> thread_ceiling;
  std::atomic<std::int32_t> fixed;         // its thread count must not change
  std::atomic<std::int32_t> no_openmp;     // it has loaded no OpenMP runtime so far
  std::atomic<std::int32_t> pool_threads;  // of task pools for which more cores would be lost; 0: none
};

}  // namespace steelyard::node
