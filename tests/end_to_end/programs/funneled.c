/* SPDX-License-Identifier: BSD-3-Clause */
// Ranks that take part in the same collectives from different places: even ranks outside of parallel regions, odd ranks
// by the primary thread of one. Prints the sum that each rank must have, or fails.
// "wait": in each of 20 steps, the teams of all ranks but the first wait 10 ms for a message to their primary thread.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void wait_in_regions(int rank, int ranks) {
  const struct timespec length = {.tv_nsec = 10 * 1000 * 1000};
  for (int step = 0; step < 20; ++step) {
    if (rank == 0) {
      nanosleep(&length, NULL);
      for (int other = 1; other < ranks; ++other) MPI_Send(&step, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
      continue;
    }
#pragma omp parallel
    {
#pragma omp master
      {
        int received;
        MPI_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
#pragma omp barrier
    }
  }
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    wait_in_regions(rank, ranks);
    return MPI_Finalize();
  }
  long total = 0;
  for (long step = 0; step < 200; ++step) {
    long mine = rank + step, all = 0;
    if (rank % 2 == 0) {
      MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    } else {
#pragma omp parallel
      {
#pragma omp master
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
#pragma omp barrier
      }
    }
    total += all;
  }
  const long expected = 200L * ranks * (ranks - 1) / 2 + ranks * 199L * 200 / 2;
  if (total != expected) fprintf(stderr, "funneled: rank %d has %ld, it must be %ld\n", rank, total, expected);
  if (rank == 0) printf("funneled: %ld\n", total);
  MPI_Finalize();
  return total == expected ? 0 : 1;
}
