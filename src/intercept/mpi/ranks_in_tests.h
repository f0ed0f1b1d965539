// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

namespace steelyard {

/// By the library's own calls: no wrapper counts them.
inline int rank_of(MPI_Comm communicator) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  return rank;
}
inline int size_of(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  return size;
}

}  // namespace steelyard
