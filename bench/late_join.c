/* SPDX-License-Identifier: BSD-3-Clause */
// One parallel region a step, of one plain static loop that computes only, and a barrier. The last rank has three times
// the work of the others, which are done in the middle of its region. Prints the seconds that all steps took.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { values = 1024, terms = 100 };

static double value[values];

static void region(int count) {
#pragma omp parallel for
  for (int i = 0; i < count; ++i) {
    double x = value[i % values];
    for (int term = 0; term < terms; ++term) x = x * 0.999 + 1e-3 / (1 + x * x);
    value[i % values] = x;
  }
}

int main(int argc, char** argv) {
  int provided, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int iterations = argc == 3 ? atoi(argv[1]) : 0, steps = argc == 3 ? atoi(argv[2]) : 0;
  if (iterations < 1 || steps < 1) {
    if (rank == 0) fprintf(stderr, "usage: late_join ITERATIONS STEPS\n");
    MPI_Finalize();
    return 2;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    region(rank == size - 1 ? 3 * iterations : iterations);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("seconds %.4f\n", MPI_Wtime() - start);
  MPI_Finalize();
  return 0;
}
