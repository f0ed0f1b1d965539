/* SPDX-License-Identifier: BSD-3-Clause */
// Rank 0 computes in parallel regions while rank 1 waits for an accelerator: "sleep" or "poll".
// "region": the threads of rank 1 wait in a region. "fixed": in one of a fixed size, and compute in another.
// "thread": another thread of rank 1 waits. "names": each call once, with its arguments.
#define _GNU_SOURCE
#include "accelerator.h"

#include <errno.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSteps = 15, kRegions = 4, kIterations = 64, kRounds = 20000, kResult = 719 };

static double compute(double x) {
  for (int round = 0; round < kRounds; ++round) x = 0.5 * x + 1 / (1 + x);
  return x;
}

static void call_all(void) {
  const void *a = (void*)0x12345, *b = (void*)0x6789, *e = (void*)0x314159;
  const size_t c = (size_t)-2;
  const int d = -3;
  const uint64_t t = 0x500000007;
#define CHECK(name, kind) \
  if (name ARGUMENTS_##kind != expected_##kind) printf("wrong: %s\n", #name), exit(1);
  const int expected_NONE = SUM_NONE, expected_ONE = SUM_ONE, expected_COPY = SUM_COPY;
  const int expected_DRIVER_COPY = SUM_DRIVER_COPY, expected_STREAM_COPY = SUM_STREAM_COPY;
  const int expected_TIMEOUT = (int)((uintptr_t)a + (t >> 32) + 3 * t);
  CALLS(CHECK)
}

static void synchronise(struct stream* stream) {
  errno = 0;
  if (cudaStreamSynchronize(stream) != kResult || errno != 4711) printf("wrong result\n"), exit(1);
}

static void* other_thread(void* stream) {
  synchronise(stream);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* how = argv[1];
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct stream stream = {20000000, strcmp(how, "poll") == 0, kResult};
  if (strcmp(how, "names") == 0) call_all();
  double sum = 0;
  for (int step = 0; step < kSteps && strcmp(how, "names") != 0; ++step) {
    const int is_fixed = rank == 1 && strcmp(how, "fixed") == 0;
    for (int region = 0; rank == 0 ? region < kRegions : region < is_fixed; ++region) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
      for (int i = 0; i < (is_fixed ? kIterations / 2 : kIterations); ++i) sum += compute(i);
    }
    if (rank == 1 && strcmp(how, "region") == 0) {
#pragma omp parallel
      synchronise(&stream);
    } else if (is_fixed) {
#pragma omp parallel num_threads(2)
      synchronise(&stream);
    } else if (rank == 1 && strcmp(how, "thread") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, other_thread, &stream);
      pthread_join(thread, NULL);
    } else if (rank == 1) {
      synchronise(&stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  printf("done\n");
  return sum < 0;
}
