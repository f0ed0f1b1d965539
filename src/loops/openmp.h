// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

// What the calling thread's OpenMP runtime says of it, asked by name: a program may have any runtime, or none.
namespace steelyard::loops::openmp {

struct Position {
  int thread = 0;
  int threads = 1;
  /// Tells teams apart that are active in different threads of an outer one. The same for all threads of a team.
  std::uint64_t path = 0;
};

/// There is a runtime that can be asked.
bool known();
/// About 10 ns.
Position position();
/// The calling thread is in a parallel region, which may have no thread but this one.
bool in_region();
/// Regions can be cancelled in this process.
bool may_cancel();

}  // namespace steelyard::loops::openmp
