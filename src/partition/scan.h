// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "partition/image.h"

namespace steelyard::partition {

/// Calls in an image, found by their bytes alone. To follow all of the code would take minutes for 50 MB.
struct Calls {
  std::vector<std::uint64_t>
      queries;  ///< of omp_get_thread_num() and omp_get_num_threads(): return addresses, ascending
  std::vector<std::uint64_t> fortran_queries;  ///< the same by their names in Fortran, which only programs use
  std::set<std::uint64_t>
      bodies;  ///< functions with queries whose address is taken by one that begins a parallel region
};
Calls find_calls(const Image& image);

}  // namespace steelyard::partition
