// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

// What the OpenMP runtime says about the calling thread. Its functions are found by name, because a program may have
// any runtime, or none.
namespace steelyard::loops::openmp {

struct Position {
  int thread = 0;
  int threads = 1;
  /// Differs between teams that are active in different threads of an outer team. The same for all threads of a team.
  std::uint64_t path = 0;
};

/// True if there is a runtime that can be asked.
bool known();
/// About 10 ns.
Position position();
/// True if the calling thread is in a parallel region, even if it is the only thread of it.
bool in_region();
/// True if regions can be cancelled in this process.
bool may_cancel();

}  // namespace steelyard::loops::openmp
