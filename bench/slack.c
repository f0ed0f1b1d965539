/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop and then an allreduce, over and over, in ranks of which one is late: in each step another of its threads is
 * held up. slack [--name=value ...] prints the seconds of all steps but the first 20, and the iterations that moved
 * away from the thread that had them in the first step, in the late rank and in all the others.
 * Iterations sleep as long as their work would take, so that ranks and threads need no cores; one that has moved takes
 * longer, for the data that it has left behind.
 *   --rows=N  --us=N (an iteration at home)  --away=PERCENT (longer)  --delay=PERCENT (of the late thread)
 *             --steps=N */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double loop_began;
static double core_is_at; /* by thread: when a core of its own would have come here */
#pragma omp threadprivate(core_is_at)

static void compute(double seconds) {
  struct timespec until;
  if (core_is_at < loop_began) core_is_at = loop_began;
  core_is_at += seconds;
  if (core_is_at - now() < 50e-6) return;
  until.tv_sec = (time_t)core_is_at;
  until.tv_nsec = (long)((core_is_at - (double)until.tv_sec) * 1e9);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int set(const char* word, const char* name, long* value) {
  const size_t length = strlen(name);
  char* end;
  if (strncmp(word, name, length) != 0) return 0;
  *value = strtol(word + length, &end, 10);
  return end != word + length && *end == '\0' && *value >= 0;
}

int main(int argc, char** argv) {
  long rows = 600, us = 100, away = 20, delay = 30, steps = 60, moved[2] = {0, 0}, all[2], step, i;
  int rank, provided, late, threads, a;
  double start = 0, sum, total;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (a = 1; a < argc; ++a) {
    if (set(argv[a], "--rows=", &rows) || set(argv[a], "--us=", &us) || set(argv[a], "--away=", &away) ||
        set(argv[a], "--delay=", &delay) || set(argv[a], "--steps=", &steps))
      continue;
    if (rank == 0) fprintf(stderr, "slack: unknown argument '%s'\n", argv[a]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  prctl(PR_SET_TIMERSLACK, 1UL); /* the threads inherit it */
  late = rank == 0;
  threads = omp_get_max_threads();
  for (step = 0; step < steps + 20; ++step) {
    long gone = 0;
    const int held_up = late ? (int)(step % threads) : -1;
    if (step == 20) {
      MPI_Barrier(MPI_COMM_WORLD);
      start = now();
    }
    sum = 0;
    loop_began = now();
#pragma omp parallel for schedule(runtime) reduction(+ : sum, gone)
    for (i = 0; i < rows; ++i) {
      const int me = omp_get_thread_num();
      const int moves = me != (int)(i * threads / rows);
      double seconds = 1e-6 * (double)us;
      if (moves) seconds *= 1 + 0.01 * (double)away;
      if (me == held_up) seconds *= 1 + 0.01 * (double)delay;
      compute(seconds);
      gone += moves;
      sum += (double)i;
    }
    if (step >= 20) moved[late ? 0 : 1] += gone;
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  start = now() - start;
  MPI_Reduce(moved, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("seconds %.6f\n", start);
    printf("moved late %.2f %%, others %.2f %%\n", 100.0 * (double)all[0] / (double)(rows * steps),
           ranks > 1 ? 100.0 * (double)all[1] / (double)(rows * steps * (ranks - 1)) : 0.0);
  }
  MPI_Finalize();
  return 0;
}
