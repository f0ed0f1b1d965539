#pragma once
#include "intercept/mpi/call.h"

namespace steelyard::intercept {

/// Waits until each of `count` requests is complete, and completes none: whoever calls it goes on to the library's
/// MPI_Waitall. For MPICH, whose MPI_Testall fails for persistent collectives (seen with 4.0.2), and whose MPI_Waitall
/// does not. Open MPI 4.1.4's MPI_Waitall never ends for a message with an error, its MPI_Testall does.
template <typename RequestAt>
void until_complete(Call& call, int count, RequestAt request_at) {
  for (int i = 0; i < count; ++i) {
    const int error =
        until_done(call, [&](int* done) { return PMPI_Request_get_status(request_at(i), done, MPI_STATUS_IGNORE); });
    if (error != MPI_SUCCESS) return;  // MPI_Waitall will say so
  }
}

}  // namespace steelyard::intercept
