/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts between nodes to which a rank is late, over a tree that is slower than that: slow_tree COUNT MS. Each
 * message of a tree takes MS to send. Says how many of the later broadcasts lasted less at rank 0, their root. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int ms = 0;

/* Trees are the only ones to call it with a tag. */
int PMPI_Isend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  typedef int Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  static Isend* real = NULL;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "PMPI_Isend");
  if (ms > 0 && tag > 0) usleep(1000U * (unsigned)ms);
  return real(buf, count, type, to, tag, comm, request);
}

int main(int argc, char** argv) {
  int rank, quick = 0, wrong = 0;
  const int count = argc > 1 ? atoi(argv[1]) : 400;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ms = argc > 2 ? atoi(argv[2]) : 0;
  for (int i = 0; i < count; ++i) {
    if (rank == 1) usleep(1000U * (unsigned)(ms + 3)); /* surely, as clocks are known no better than by MS */
    int data = rank == 0 ? i : -1;
    double start = MPI_Wtime();
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (i >= count / 2 && MPI_Wtime() - start < 1e-3 * ms) ++quick;
    if (data != i) ++wrong;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("slow_tree: %d of %d quick, %d wrong\n", quick, count - count / 2, wrong);
  return MPI_Finalize();
}
