/* SPDX-License-Identifier: BSD-3-Clause */
// A loop whose later iterations have more to do: with equal parts the last thread works longest, and all wait for it.
// The threads share out the iterations through Steelyard, which learns from step to step where to cut. The result is
// the same with any number of threads and under any strategy: run it with STEELYARD_LOOPS=static, guided, ... to
// compare.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <steelyard/loops.h>

enum { steps = 20, rows = 600, modulus = 1000003 };

int main(int argc, char** argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static long value[rows];
  for (int i = 0; i < rows; ++i) value[i] = i + rank;

#pragma omp parallel
  for (int step = 0; step < steps; ++step) {
    steelyard_iterations_t mine;
    steelyard_loop_begin(NULL, 0, rows, 1, &mine);
    while (steelyard_loop_next(&mine)) {
      for (int64_t i = mine.begin; i < mine.end; ++i) {
        long row = value[i];
        for (int64_t j = 0; j <= i; ++j) row = (row * 31 + j) % modulus;
        value[i] = row;
      }
    }
    if (steelyard_loop_end(&mine) != STEELYARD_SUCCESS) {
      fprintf(stderr, "triangle: %s\n", steelyard_message());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    // The next step reads what this one has written.
#pragma omp barrier
  }

  long sum = 0, total = 0;
  for (int i = 0; i < rows; ++i) sum += value[i];
  MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("triangle: steps %d, checksum %ld\n", steps, total);
  MPI_Finalize();
  return 0;
}
