// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "node/segment.h"

namespace steelyard::node {

/// One process of the node, as the others see it in shared memory.
struct alignas(64) Process {
  static constexpr int kMostCpus = 4096;

  // Written by its owner before the first barrier_in_node(), then constant.
  std::int32_t world_rank;
  std::int32_t threads_at_start;
  bool threads_chosen;
  std::bitset<kMostCpus> mask;  // CPUs that the launcher gave it

  // Written by its owner at any time.
  alignas(64) std::atomic<std::int32_t> in_mpi;  // its primary thread is in a blocking MPI call
  std::atomic<std::int32_t> finished;            // it has called MPI_Finalize
  std::atomic<std::int32_t> thread_ceiling;
  std::atomic<std::int32_t> fixed;  // its thread count must not change
};

inline void set_mask(Process& process, const std::vector<int>& cpus) {
  process.mask.reset();
  for (const int cpu : cpus) {
    if (cpu < Process::kMostCpus) process.mask.set(static_cast<std::size_t>(cpu));
  }
}

inline std::vector<int> mask_of(const Process& process) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < Process::kMostCpus; ++cpu) {
    if (process.mask.test(static_cast<std::size_t>(cpu))) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace steelyard::node
