/* SPDX-License-Identifier: BSD-3-Clause */
// Communicators whose broadcasts go over trees, and how they end: by one rank earlier than by the other, in other
// orders, never, and more of them than MPICH has room for twice.
#include <mpi.h>
#include <stdio.h>

enum { MANY = 1050, BROADCASTS = 5 };

static int rank;

static MPI_Comm with_tree(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < BROADCASTS; i++) {
    int data = rank == i % 2 ? i : -1;
    MPI_Bcast(&data, 1, MPI_INT, i % 2, comm);
    if (data != i) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return comm;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static MPI_Comm many[MANY];
  with_tree();  // never freed

  // The last reference to it goes while the library waits for something else.
  MPI_Comm busy = with_tree();
  MPI_Request request;
  MPI_Ibarrier(busy, &request);
  if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&busy);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Comm one = with_tree(), other = with_tree();
  MPI_Comm_free(rank == 0 ? &one : &other);
  if (rank == 0) {
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(rank == 0 ? &other : &one);

  for (int i = 0; i < MANY; i++) many[i] = with_tree();
  for (int i = 0; i < MANY; i++) MPI_Comm_free(&many[i]);
  MPI_Comm last = with_tree();
  MPI_Comm_free(&last);
  if (rank == 0) printf("freed: %d trees\n", MANY + 5);
  return MPI_Finalize();
}
