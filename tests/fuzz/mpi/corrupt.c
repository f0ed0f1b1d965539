/* SPDX-License-Identifier: BSD-3-Clause */
/* A defect to be found: under Steelyard the last byte of each broadcast of 8 or more integers or bytes is wrong, but at
 * the root. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

typedef int (*bcast_t)(void*, int, MPI_Datatype, int, MPI_Comm);

int PMPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank;
  const bcast_t next = (bcast_t)(size_t)dlsym(RTLD_NEXT, "PMPI_Bcast");
  const int error = next(buffer, count, type, root, comm);
  MPI_Comm_rank(comm, &rank);
  const int each = type == MPI_INT ? 4 : type == MPI_INT64_T ? 8 : type == MPI_BYTE ? 1 : 0;
  if (each > 0 && count >= 8 && rank != root && buffer != MPI_BOTTOM) ((unsigned char*)buffer)[each * count - 1] ^= 1;
  return error;
}
