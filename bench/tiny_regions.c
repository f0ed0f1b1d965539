/* SPDX-License-Identifier: BSD-3-Clause */
// A program of many tiny parallel regions, like LULESH on a small mesh: 34 regions a step, of about 1 to 15 us on one
// thread. Prints the seconds that all steps took.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { regions = 34, longest = 16384 };

static double values[longest];

static void region(int count) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) values[i] = values[i] * 0.999 + 1.0;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int steps = argc == 2 ? atoi(argv[1]) : 3000;
  if (steps < 1) {
    fprintf(stderr, "usage: tiny_regions [STEPS]\n");
    MPI_Finalize();
    return 2;
  }
  double start = 0;
  for (int step = -steps / 10; step < steps; ++step) {
    if (step == 0) start = omp_get_wtime();  // threads exist by then, and sites are known
    for (int k = 0; k < regions; ++k) region(1024 << (k % 9 / 2));
    double sum = values[step & (longest - 1)], total;
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("seconds %.6f\n", omp_get_wtime() - start);
  MPI_Finalize();
  return 0;
}
