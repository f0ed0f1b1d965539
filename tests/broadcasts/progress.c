/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts and scatters among messages and collectives that end only because a rank that waits in a broadcast lets
 * them go on. The MPI libraries do, and so must Steelyard; otherwise each waits for the other. A program that hangs is
 * ended after some seconds, and then says in which of the cases. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20, AHEAD = 80, SECONDS = 30 };

static char here[LONG];
static int rank, size;
static const char* doing = "";

static void hangs(int signal) {
  (void)signal;
  static const char text[] = " hangs\n";
  ssize_t ignored = write(1, doing, strlen(doing));
  ignored = write(1, text, sizeof text - 1);
  (void)ignored;
  _exit(1);
}

static int told(int value, int count) {
  int data[2] = {rank == 0 ? value : -1, 0};
  MPI_Bcast(data, count, MPI_INT, 0, MPI_COMM_WORLD);
  return count == 0 || data[0] == value;
}

/* The root waits for the others' part of a collective that they have begun. */
static int after_reduction(int i) {
  int mine = rank + i, sum = 0, right = 1;
  MPI_Request request;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  right = told(i, 1);
  if (rank > 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return right && sum == size * (size - 1) / 2 + size * i;
}

/* The root's message is too long to be on its way before its receiver takes part. */
static int after_message(int i, int count, int times) {
  MPI_Request request = MPI_REQUEST_NULL;
  int right = 1;
  here[LONG - 1] = rank == 0 ? (char)i : -1;
  if (rank == 0) {
    MPI_Send(here, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Irecv(here, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  }
  for (int j = 0; j < times; ++j) right = right && told(i + j, count);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return right && (rank > 1 || here[LONG - 1] == (char)i);
}

/* The same before a scatter. */
static int before_scatter(int i) {
  MPI_Request request = MPI_REQUEST_NULL;
  int blocks[64], mine = -1;
  for (int j = 0; j < 64; ++j) blocks[j] = i + j;
  if (rank == 0) {
    MPI_Send(here, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Irecv(here, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  }
  MPI_Scatter(blocks, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return mine == i + rank;
}

/* The root runs ahead of a receiver that waits for its message, until no notice is free. */
static int ahead(int i) {
  MPI_Request request = MPI_REQUEST_NULL;
  int right = 1;
  if (rank == 0) {
    MPI_Isend(here, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  } else if (rank == 1) {
    MPI_Recv(here, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int j = 0; j < AHEAD; ++j) right = right && told(i + j, 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return right;
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 100;
  int wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  signal(SIGALRM, hangs);
  alarm(SECONDS);
  for (int i = 0; i < times; ++i) {
    doing = "a broadcast after a reduction";
    if (!after_reduction(i)) ++wrong;
    doing = "a broadcast after a message";
    if (!after_message(i, 1, 1)) ++wrong;
    doing = "broadcasts of nothing after a message";
    if (!after_message(i, 0, 2)) ++wrong;
    doing = "a scatter after a message";
    if (!before_scatter(i)) ++wrong;
    doing = "a root that runs ahead";
    if (i % 10 == 0 && !ahead(i)) ++wrong;
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("progress on %d ranks, %d wrong\n", size, all);
  return MPI_Finalize();
}
