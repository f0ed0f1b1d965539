/* SPDX-License-Identifier: BSD-3-Clause */
// Runs unbalanced steps until it is killed. kills HOW RANK MS: after MS milliseconds rank RANK
//   segv   writes through a null pointer
//   abort  calls MPI_Abort(5)
//   exit   calls exit(4) without MPI_Finalize
//   quit   calls _exit(6)
//   limit  has used its CPU time (RLIMIT_CPU)
//   none   goes on
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double step(int rank) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 30000 * (1 + 3 * (rank == 0)); ++i) sum += 1.0 / (1 + i);
  return sum;
}

static void end(const char* how) {
  if (strcmp(how, "segv") == 0) *(volatile int*)0 = 1;
  if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(how, "exit") == 0) exit(4);
  if (strcmp(how, "quit") == 0) _exit(6);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("pid %d\n", (int)getpid());
  fflush(stdout);
  const int victim = rank == atoi(argv[2]);
  if (victim && strcmp(argv[1], "limit") == 0) {
    const struct rlimit second = {1, 1};
    setrlimit(RLIMIT_CPU, &second);
  }
  const double start = MPI_Wtime(), length = 1e-3 * atof(argv[3]);
  double sum = 0;
  for (;;) {
    sum += step(rank);
    if (victim && MPI_Wtime() - start > length) end(argv[1]);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
}
