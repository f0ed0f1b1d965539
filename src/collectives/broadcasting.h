// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "collectives/policy.h"

namespace steelyard::collectives {

/// How broadcasts and scatters are delivered in this run.
struct Broadcasting {
  bool every = false;  ///< each MPI_Bcast and MPI_Scatter, not only calls of steelyard_bcast()
  bool on = false;     ///< between nodes, at all ranks of MPI_COMM_WORLD
  int node = 0;        ///< index of this rank's node
  Settings settings;
  bool may_leave_to_library = true;  ///< those that find no rank late
  bool compares = false;             ///< if the MPI library's own are better, they are left to it
};

}  // namespace steelyard::collectives
