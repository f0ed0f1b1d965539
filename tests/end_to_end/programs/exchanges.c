/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks exchange short messages. The first waits are long, as rank 1 is late. Prints the time of the others (s). */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { kLate = 10, kExchanges = 20000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  double begin = 0;
  for (int i = 0; i < kLate + kExchanges; ++i) {
    const struct timespec late = {0, 2000000};
    if (i < kLate && rank == 1) nanosleep(&late, NULL);
    if (i == kLate) begin = MPI_Wtime();
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int received;
    MPI_Irecv(&received, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&i, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    if (received != i) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) printf("seconds %f\n", MPI_Wtime() - begin);
  MPI_Finalize();
  return 0;
}
