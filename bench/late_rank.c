/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks sleep by turns, one of them twice as long, then meet in MPI_Barrier.
 * late_rank [STEPS] prints the seconds that the last rank spends in its own barrier: of each rank the median over the
 * steps in which it was last, and of these the mean. The last rank has nothing to wait for, so all of it is overhead:
 * ranks that were off their cores while they waited must not delay the rank that they waited for. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const long short_sleep = 15000000, long_sleep = 30000000; /* ns: far beyond any time for which a wait spins */
static const int warm_up = 10;                                   /* steps in which the MPI library connects its ranks */

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int rank, ranks, step, kept = 0;
  const int steps = warm_up + (argc > 1 ? atoi(argv[1]) : 40);
  double *mine = malloc(sizeof *mine * (size_t)(steps > 0 ? steps : 1)), median, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!mine || steps < warm_up + ranks) {
    if (rank == 0) fprintf(stderr, "late_rank: %d ranks need at least as many steps\n", ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (step = 0; step < steps; ++step) {
    const int late = step % ranks;
    struct timespec sleep = {0, 0};
    double start;
    sleep.tv_nsec = rank == late ? long_sleep : short_sleep;
    nanosleep(&sleep, NULL);
    start = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late && step >= warm_up) mine[kept++] = MPI_Wtime() - start;
  }
  qsort(mine, (size_t)kept, sizeof *mine, ascending);
  median = kept ? mine[kept / 2] : 0;
  MPI_Reduce(&median, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("seconds %.9f\n", sum / ranks);
  free(mine);
  MPI_Finalize();
  return 0;
}
