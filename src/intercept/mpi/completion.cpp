// SPDX-License-Identifier: BSD-3-Clause
// Waiting for requests from C: tests between which the core is free. They treat null and inactive requests, statuses
// and errors as the waits do.
#include "intercept/mpi/completion.h"

using namespace steelyard::intercept;

extern "C" {

STEELYARD_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (const PassedOn passed_on; passed_on || request == nullptr || *request == MPI_REQUEST_NULL)
    return PMPI_Wait(request, status);
  Call call(STEELYARD_SITE);
  return until_done(call, [&](int* done) { return PMPI_Test(request, done, status); });
}

STEELYARD_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (const PassedOn passed_on; passed_on || requests == nullptr) return PMPI_Waitall(count, requests, statuses);
  Call call(STEELYARD_SITE);
#ifdef OPEN_MPI
  return until_done(call, [&](int* done) { return PMPI_Testall(count, requests, done, statuses); });
#else
  return complete_one_by_one(call, count, requests, statuses);
#endif
}

STEELYARD_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (const PassedOn passed_on{}) return PMPI_Waitany(count, requests, index, status);
  Call call(STEELYARD_SITE);
  const int error = until_done(call, [&](int* done) { return PMPI_Testany(count, requests, index, done, status); });
  // None was active. MPICH's MPI_Testany leaves the status as it was; its MPI_Waitany empties it.
  return error == MPI_SUCCESS && *index == MPI_UNDEFINED ? PMPI_Waitany(count, requests, index, status) : error;
}

STEELYARD_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int* finished, int indices[],
                                  MPI_Status statuses[]) {
  if (const PassedOn passed_on{}) return PMPI_Waitsome(count, requests, finished, indices, statuses);
  Call call(STEELYARD_SITE);
  return until_done(call, [&](int* done) {
    const int error = PMPI_Testsome(count, requests, finished, indices, statuses);
    if (error == MPI_SUCCESS) *done = *finished != 0;  // or MPI_UNDEFINED: none was active
    return error;
  });
}

}  // extern "C"
