/* SPDX-License-Identifier: BSD-3-Clause */
// Ranks of unequal load. Built with OpenMP and without; ranks of both builds can be one job.
#include <mpi.h>
#include <stdio.h>

static double work(long iterations) {
  double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
  for (long i = 1; i < iterations; ++i) sum += (double)(i % 3);
  return sum;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double sum = 0;
  for (int step = 0; step < 40; ++step) {
    sum += work(200000L * (rank + 1));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("mixed: %.0f\n", sum);
  MPI_Finalize();
  return 0;
}
