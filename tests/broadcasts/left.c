/* SPDX-License-Identifier: BSD-3-Clause */
// Broadcasts that the MPI library handles: left WHY.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COMMUNICATORS = 20, LONG = 3 << 20 };

static char data[LONG];

static void broadcast(MPI_Comm comm, int bytes, int times) {
  for (int i = 0; i < times; i++) MPI_Bcast(data, bytes, MPI_BYTE, 0, comm);
}

int main(int argc, char** argv) {
  const char* why = argc > 1 ? argv[1] : "";
  int provided, rank;
  MPI_Init_thread(&argc, &argv, strcmp(why, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copies[COMMUNICATORS];
  for (int i = 0; i < COMMUNICATORS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
  if (strcmp(why, "threads") == 0) {
    broadcast(copies[0], 8, 100);
    broadcast(MPI_COMM_SELF, 8, 100);  // has no receiver
  } else if (strcmp(why, "boards") == 0) {
    for (int i = 0; i < COMMUNICATORS; i++) broadcast(copies[i], 8, 10);
  } else if (strcmp(why, "length") == 0) {
    broadcast(MPI_COMM_WORLD, LONG, 20);
    broadcast(MPI_COMM_WORLD, 8, 20);
  } else {
    for (int i = 0; i < COMMUNICATORS; i++) broadcast(copies[i], 8, 2);
  }
  for (int i = 0; i < COMMUNICATORS; i++) MPI_Comm_free(&copies[i]);
  if (rank == 0) printf("left: %s\n", why);
  return MPI_Finalize();
}
