/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks compute, then exchange messages, again and again.
 * exchange COUNT [US [BYTES]]: computes 0 to 2 * US us at random before each exchange (default: 0), of BYTES bytes each
 * way (default: 4). Prints the seconds, and how often rank 0 has slept, without the first exchanges, for which rank 1
 * is late. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { late_exchanges = 10, late_ns = 2000000 };

static void compute(double seconds) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < seconds) {
  }
}

/* Times that this thread has blocked; yields are not among them. */
static long sleeps(void) {
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 20000;
  const double us = argc > 2 ? atof(argv[2]) : 0;
  const int bytes = argc > 3 ? atoi(argv[3]) : 4;
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *sent = bytes > 0 ? calloc(1, (size_t)bytes) : NULL, *received = bytes > 0 ? calloc(1, (size_t)bytes) : NULL;
  if (!sent || !received || ranks != 2) {
    if (rank == 0) fprintf(stderr, "exchange: %d ranks, %d bytes; needs 2 ranks and at least 1 byte\n", ranks, bytes);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  unsigned state = 1 + (unsigned)rank;
  double begin = 0;
  long slept = 0;
  for (long i = -late_exchanges; i < count; ++i) {
    const struct timespec late = {0, late_ns};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (i < 0 && rank == 1) nanosleep(&late, NULL);
    if (i == 0) {
      begin = MPI_Wtime();
      slept = sleeps();
    }
    state = state * 1664525U + 1013904223U;
    if (us > 0) compute(2e-6 * us * (state >> 8) / (1 << 24));
    sent[0] = (char)i;
    MPI_Irecv(received, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    if (received[0] != (char)i) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) printf("seconds %.6f sleeps %ld\n", MPI_Wtime() - begin, sleeps() - slept);
  MPI_Finalize();
  free(sent);
  free(received);
  return 0;
}
