/* SPDX-License-Identifier: BSD-3-Clause */
// starved [PROCESSES [barrier|message]]: rank 0 computes in loops with schedule(static), while rank 1 waits for it, in
// a barrier (default) or for a message. The CPU of rank 1 is busy with PROCESSES processes that are no part of the job
// (default: 0). Compiled by clang, these loops query no thread IDs, so the regions can be resized. Prints how often
// rank 1 has slept.
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kSteps = 12, kRegions = 4, kIterations = 64, kRounds = 100000, kBusy = 8 };

static double compute(double x) {
  for (int round = 0; round < kRounds; ++round) x = 0.5 * x + 1 / (1 + x);
  return x;
}

static pid_t keep_cpu_busy(void) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (volatile long turns = 0;; ++turns) {
  }
}

/* Times that this thread has blocked; yields are not among them. */
static long sleeps(void) {
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, received;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pid_t busy[kBusy];
  const int others = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; rank == 1 && i < others && i < kBusy; ++i) busy[i] = keep_cpu_busy();
  const bool message = argc > 2 && strcmp(argv[2], "message") == 0;
  const long slept = sleeps();
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (int region = 0; rank == 0 && region < kRegions; ++region) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
      for (int i = 0; i < kIterations; ++i) sum += compute(i);
    }
    if (!message)
      MPI_Barrier(MPI_COMM_WORLD);
    else if (rank == 0)
      MPI_Send(&step, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 0; rank == 1 && i < others && i < kBusy; ++i) kill(busy[i], SIGKILL);
  if (rank == 0) printf("sum %.6f\n", sum);
  if (rank == 1) printf("sleeps %ld\n", sleeps() - slept);
  MPI_Finalize();
  return 0;
}
