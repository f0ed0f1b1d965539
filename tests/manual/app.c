/* SPDX-License-Identifier: BSD-3-Clause */
/* What the manual calls ./app: an unbalanced program of a moment. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char** argv) {
  const struct timespec moment = {0, 500000};
  int rank, step, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (step = 0; step < 10; ++step) {
#pragma omp parallel for schedule(dynamic)
    for (i = 0; i < 4 + 8 * (rank == 0); ++i) nanosleep(&moment, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) puts("app: done");
  MPI_Finalize();
  return 0;
}
