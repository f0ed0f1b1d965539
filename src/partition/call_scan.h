// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "partition/image.h"

namespace steelyard::partition {

/// Calls of an OpenMP runtime in an image.
struct Calls {
  /// Return addresses of calls of omp_get_thread_num() and omp_get_num_threads(), ascending.
  std::vector<std::uint64_t> queries;
  /// The same for calls by their names in Fortran, which only source code contains.
  std::vector<std::uint64_t> fortran_queries;
  /// Bodies of regions: functions with queries whose address is taken by a function that begins a parallel region.
  std::set<std::uint64_t> bodies;
};
/// Finds calls by their bytes alone. To decode all of the code would take minutes for 50 MB.
Calls find_calls(const Image& image);

}  // namespace steelyard::partition
