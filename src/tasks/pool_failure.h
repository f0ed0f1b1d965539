// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::tasks {

/// Why a run cannot be finished: a process frees the pool in this run while others run it, or has ended.
struct Breach {
  std::uint32_t run = 0;     ///< in which the pool is freed; 0: the process has ended, so that no run can be finished
  std::uint32_t leaver = 0;  ///< as in TerminationRounds::Counts; 0: there is no breach
  bool there() const { return leaver != 0; }
  bool died() const { return run == 0; }
  std::uint64_t packed() const { return std::uint64_t{run} << 32 | leaver; }
  static Breach of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)};
  }
};

}  // namespace steelyard::tasks
