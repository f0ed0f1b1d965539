/* SPDX-License-Identifier: BSD-3-Clause */
// A program that was prepared for SABO: it calls omp_balanced() at the end of each step, and knows no header of ours.
// Its ranks meet only in point-to-point messages and run different numbers of regions: only that call tells the steps.
#include <mpi.h>
#include <stdio.h>

void omp_balanced(void);

static long work(void) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < 200000; ++i) sum += i % 5;
  return sum;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long sum = 0;
  for (int step = 0; step < 30; ++step) {
    for (int region = 0; region <= rank; ++region) sum += work();
    MPI_Sendrecv_replace(&sum, 1, MPI_LONG, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    omp_balanced();
  }
  long total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("prepared: %ld\n", total);
  MPI_Finalize();
  return 0;
}
