/* A defect to be found: under Steelyard the last byte of broadcasts of 8 to 64 integers is wrong at all but the root. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

typedef int (*bcast_t)(void*, int, MPI_Datatype, int, MPI_Comm);

int PMPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank;
  const bcast_t next = (bcast_t)(size_t)dlsym(RTLD_NEXT, "PMPI_Bcast");
  const int error = next(buffer, count, type, root, comm);
  MPI_Comm_rank(comm, &rank);
  if (type == MPI_INT && count >= 8 && count <= 64 && rank != root && buffer != MPI_BOTTOM)
    ((unsigned char*)buffer)[4 * count - 1] ^= 1;
  return error;
}
