// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "base/clock.h"
#include "intercept/mpi/call.h"

// MPI_Waitall for MPICH, whose MPI_Testall fails for persistent collectives (seen with 4.0.2). Open MPI's does not.
namespace steelyard::intercept {

/// By MPI_Test, which also advances requests that only go on when they are asked for: those of files.
inline int complete_one_by_one(Call& call, int count, MPI_Request requests[], MPI_Status statuses[]) {
  const bool ignored = statuses == MPI_STATUSES_IGNORE;
  if (count < 0 || (statuses == nullptr && !ignored))
    return PMPI_Waitall(count, requests, statuses);  // which refuses it
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    MPI_Status* const status = ignored ? MPI_STATUS_IGNORE : &statuses[i];
    const bool null = requests[i] == MPI_REQUEST_NULL;
    const int error = until_done(call, [&](int* done) { return PMPI_Test(&requests[i], done, status); });
    failed = failed || error != MPI_SUCCESS;
    // MPI_Test writes no MPI_ERROR. MPICH's MPI_Waitall does for each request that is not null, even if none failed.
    if (!ignored && !null) statuses[i].MPI_ERROR = error;
  }
  return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

/// For a while at most: until each of `count` requests is complete; completes none. Where MPI_Test cannot be called
/// with the program's own statuses. MPI_Test does not advance requests of files: the caller goes on to the
/// library's own MPI_Waitall, which does.
template <typename RequestAt>
void look_for_completion(Call& call, int count, RequestAt request_at) {
  constexpr std::int64_t kPatience =
      50'000'000;  // ns: as long as a test that never succeeds may delay a file's request
  for (int i = 0; i < count; ++i) {
    const int error = until_done(call, [&](int* done) {
      const int failed = PMPI_Request_get_status(request_at(i), done, MPI_STATUS_IGNORE);
      return failed == MPI_SUCCESS && base::now_ns() - call.began() > kPatience ? MPI_ERR_PENDING : failed;
    });
    if (error != MPI_SUCCESS) return;
  }
}

}  // namespace steelyard::intercept
