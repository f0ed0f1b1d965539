/* SPDX-License-Identifier: BSD-3-Clause */
// Rank 0 computes in loops with schedule(static), while rank 1 waits for it and the CPU of rank 1 is busy with
// processes that are no part of the job. Compiled by clang, these loops query no thread IDs, so the regions can be
// resized.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { kSteps = 20, kRegions = 4, kIterations = 64, kRounds = 100000, kBusy = 8 };

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

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pid_t busy[kBusy];
  const int others = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; rank == 1 && i < others && i < kBusy; ++i) busy[i] = keep_cpu_busy();
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (int region = 0; rank == 0 && region < kRegions; ++region) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
      for (int i = 0; i < kIterations; ++i) sum += compute(i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; rank == 1 && i < others && i < kBusy; ++i) kill(busy[i], SIGKILL);
  if (rank == 0) printf("sum %.6f\n", sum);
  MPI_Finalize();
  return 0;
}
