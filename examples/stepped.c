/* SPDX-License-Identifier: BSD-3-Clause */
// Ranks that run different numbers of parallel regions in a step and meet only in point-to-point messages:
// steelyard_step() says where a step ends. The program runs the same, with the same result, where Steelyard is not
// there.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <steelyard/steelyard.h>

enum { steps = 20, iterations = 200, rounds = 15000 };

// A chain of dependent operations that converges to 2, exactly.
static long compute(double x) {
  for (long i = 0; i < rounds; ++i) x = 0.5 * x + 1.0;
  return (long)x;
}

static long run_region(void) {
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (long i = 0; i < iterations; ++i) sum += i * compute((double)i) / 2;
  return sum;
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;

  long sum = 0;
  steelyard_status_t status = STEELYARD_SUCCESS;
  for (int step = 0; step < steps; ++step) {
    for (int region = 0; region <= rank; ++region) sum += run_region();
    MPI_Sendrecv_replace(&sum, 1, MPI_LONG, next, 0, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    status = steelyard_step();
  }

  long total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("stepped: steps %d, checksum %ld\n", steps, total);
    if (status != STEELYARD_SUCCESS) printf("stepped: %s\n", steelyard_message());
  }
  MPI_Finalize();
  return 0;
}
