/* SPDX-License-Identifier: BSD-3-Clause */
/* In each step rank 0 broadcasts the state, and another rank is late. Under `steelyard run --collectives=called`, or
 * =on, no other rank waits for the late one. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "steelyard/collectives.h"

enum { STEPS = 20, CELLS = 10000 };

int main(int argc, char** argv) {
  static int state[CELLS];
  int rank, ranks;
  long sum = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < STEPS; ++step) {
    if (rank == 0) {
      for (int i = 0; i < CELLS; ++i) state[i] = (i * 31 + step * 7) % 1009;
    }
    if (rank == ranks / 2) usleep(1000);
    steelyard_bcast(state, CELLS, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = rank; i < CELLS; i += ranks + 1) sum += state[i];
  }
  MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("late: steps %d, ranks %d, checksum %ld\n", STEPS, ranks, all);
  MPI_Finalize();
  return 0;
}
