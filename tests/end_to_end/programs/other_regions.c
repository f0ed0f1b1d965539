/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions beside the outermost ones of the primary thread. A thread that sleeps here stands for one that computes, so
 * the figures need no cores. The second thread of a team computes three times as long as the first. Prints the thread
 * time, in ns, that was computed in regions. Argument:
 *   nested      two threads, each of which begins a region of two
 *   serialised  the same, where inner regions have one thread
 *   threads     two threads beside the main thread begin regions at the same time
 *   received    another thread begins regions while the main thread waits in MPI_Recv
 *   cancelled   cancelled regions, nested and of another thread, with OMP_CANCELLATION=true */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { kRegions = 6, kLength = 3 }; /* ms */

static long long computed;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void compute(int lengths) {
  const long long begin = now_ns();
  const struct timespec length = {0, lengths * kLength * 1000000L};
  nanosleep(&length, NULL);
  const long long spent = now_ns() - begin;
#pragma omp atomic
  computed += spent;
}

static void inner(void) {
#pragma omp parallel num_threads(2)
  compute(1 + 2 * omp_get_thread_num());
}

static void nested(void) {
#pragma omp parallel num_threads(2)
  inner();
}

static void* regions_of_thread(void* unused) {
  (void)unused;
  for (int i = 0; i < kRegions; ++i) {
#pragma omp parallel num_threads(2)
    compute(1 + 2 * omp_get_thread_num());
  }
  return NULL;
}

static void cancel(void) {
#pragma omp parallel num_threads(2)
  {
    compute(1 + 2 * omp_get_thread_num());
#pragma omp cancel parallel
    compute(100);
  }
}

static void* cancel_in_thread(void* unused) {
  for (int i = 0; i < kRegions; ++i) cancel();
  return unused;
}

static void in_threads(int count, void* (*what)(void*)) {
  pthread_t threads[2];
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, what, NULL);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

/* The last rank's main thread has nothing to receive until all other ranks have sent. */
static void receive(int rank) {
  pthread_t thread;
  pthread_create(&thread, NULL, regions_of_thread, NULL);
  int token = 0;
  if (rank == 0) {
    MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
  } else {
    pthread_join(thread, NULL);
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "nested";
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  omp_set_max_active_levels(strcmp(how, "serialised") == 0 ? 1 : 2);
  if (strcmp(how, "threads") == 0) {
    in_threads(2, regions_of_thread);
  } else if (strcmp(how, "received") == 0) {
    if (provided == MPI_THREAD_MULTIPLE) receive(rank);
  } else if (strcmp(how, "cancelled") == 0) {
#pragma omp parallel num_threads(2)
    cancel();
    in_threads(1, cancel_in_thread);
  } else {
    for (int i = 0; i < kRegions; ++i) nested();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("computed %d %lld\n", rank, computed);
  MPI_Finalize();
  return 0;
}
