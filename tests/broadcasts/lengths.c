/* SPDX-License-Identifier: BSD-3-Clause */
/* Between nodes: broadcasts of which the MPI library has the long ones, and ranks that do not agree whether it is a
 * long one. The root says which way it goes. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SHORT = 1000, LIMIT = 1 << 20, LONG = 2 << 20 };

static char data[LONG];
static int rank, size, failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("rank %d: %s\n", rank, what);
}

static int broadcast(int bytes, int asked, int root, MPI_Comm comm, int i) {
  memset(data, rank == root ? i : -1, LONG);
  int code = MPI_Bcast(data, rank == root ? bytes : asked, MPI_BYTE, root, comm);
  expect(data[0] == i && data[bytes - 1] == i, "data did not come");
  expect(bytes == LONG || rank == root || data[bytes] == -1, "more came than was sent");
  return code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 40; ++i) {
    int bytes = i % 3 == 0 ? LONG : i % 3 == 1 ? SHORT : LIMIT;
    expect(broadcast(bytes, bytes, i % size, comm, i) == MPI_SUCCESS, "an error");
    if (i % 4 != 3) continue;
    int code = broadcast(LIMIT, LONG, i % size, comm, i);
#ifdef OPEN_MPI
    expect(code == MPI_SUCCESS, "too large a buffer was an error");
#else
    expect(rank == i % size || code != MPI_SUCCESS, "too large a buffer was no error");
#endif
  }
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d wrong\n", size, all);
  MPI_Comm_free(&comm);
  return MPI_Finalize();
}
