/* SPDX-License-Identifier: BSD-3-Clause */
// Data of each thread, set up in a first region and used in all later ones: a thread that comes later has none. Rank 0
// has most of the work, as in constrained.c.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

static int ready;
#pragma omp threadprivate(ready)

static long step(int iterations) {
  long strays = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : strays)
  for (int i = 0; i < iterations; ++i) {
    const struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
    strays += ready != 1;
  }
  return strays;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
  ready = 1;
  long strays = 0;
  for (int s = 0; s < 40; ++s) {
    strays += step(rank == 0 ? 32 : 6);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  long all_strays = 0;
  MPI_Reduce(&strays, &all_strays, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("threadprivate: strays %ld\n", all_strays);
  MPI_Finalize();
  return 0;
}
