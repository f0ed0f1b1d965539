// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::tasks {

/// Why a run cannot be finished: a process frees the pool while others are in the run, or a process has ended.
struct PoolFailure {
  std::uint32_t run = 0;     ///< in which the process frees the pool; 0: the process has ended
  std::uint32_t leaver = 0;  ///< that process, as in TerminationRounds::Counts; 0: there is no failure
  bool exists() const { return leaver != 0; }
  bool died() const { return run == 0; }
  std::uint64_t packed() const { return std::uint64_t{run} << 32 | leaver; }
  static PoolFailure of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)};
  }
};

}  // namespace steelyard::tasks
