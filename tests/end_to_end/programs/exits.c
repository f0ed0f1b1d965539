/* SPDX-License-Identifier: BSD-3-Clause */
// Ways to end. exits HOW [LIBRARY], which is opened before MPI_Init:
//   status   every rank returns 3 after MPI_Finalize
//   exit     rank 1 calls exit(4) without MPI_Finalize; the others wait for it
//   abort    rank 1 calls MPI_Abort(5)
//   unseen   as status, but MPI is initialised by PMPI_Init, which Steelyard does not see
//   endless  no rank ends; each says its process id when the steps have begun
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double step(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100000; ++i) sum += 1.0 / (1 + i);
  return sum;
}

static void run_steps(long steps) {
  double sum = 0;
  for (long s = 0; s < steps; ++s) {
    sum += step();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "status";
  int rank;
  if (argc > 2 && dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL) == NULL) return 1;
  (strcmp(how, "unseen") == 0 ? PMPI_Init : MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  run_steps(20);
  if (rank == 1 && strcmp(how, "exit") == 0) exit(4);
  if (rank == 1 && strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(how, "endless") == 0) {
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    run_steps(1L << 60);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 3;
}
