/* SPDX-License-Identifier: BSD-3-Clause */
// What short MPI calls cost that wait for no rank: each kind in batches, Steelyard's and PMPI's own in turn, between
// two ranks or more. Prints the ratio of the medians, by kind.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls_in_batch = 200, batches = 400 };

static int rank, size, partner;
static char data[1 << 16], other[1 << 16];
static int bytes;

static void pingpong(int profiled) {
  if (partner < 0) return;
  if (rank % 2 == 0) {
    profiled ? PMPI_Send(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD)
             : MPI_Send(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
    profiled ? PMPI_Recv(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
             : MPI_Recv(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    profiled ? PMPI_Recv(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
             : MPI_Recv(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    profiled ? PMPI_Send(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD)
             : MPI_Send(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
  }
}
static void exchange(int profiled) {
  if (partner < 0) return;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  if (profiled) {
    PMPI_Irecv(other, bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[0]);
    PMPI_Isend(data, bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[1]);
    PMPI_Waitall(2, requests, statuses);
  } else {
    MPI_Irecv(other, bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
  }
}
static void barrier(int profiled) { profiled ? PMPI_Barrier(MPI_COMM_WORLD) : MPI_Barrier(MPI_COMM_WORLD); }
static void allreduce(int profiled) {
  profiled ? PMPI_Allreduce(data, other, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)
           : MPI_Allreduce(data, other, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void bcast(int profiled) {
  profiled ? PMPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD) : MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const char* name, void (*call)(int), int length) {
  static double us[2][batches];
  bytes = length;
  for (int batch = -4; batch < 2 * batches; ++batch) {
    const int profiled = batch & 1;
    PMPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls_in_batch; ++i) call(profiled);
    const double took = (MPI_Wtime() - start) * 1e6 / calls_in_batch;
    if (batch >= 0) us[profiled][batch / 2] = took;
  }
  for (int which = 0; which < 2; ++which) qsort(us[which], batches, sizeof(double), ascending);
  const double ours = us[0][batches / 4], native = us[1][batches / 4];
  if (rank == 0) printf("%s-%d ratio %.3f ours %.3f native %.3f us\n", name, length, ours / native, ours, native);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  partner = (rank ^ 1) < size ? rank ^ 1 : -1;
  for (int length = 8; length <= 8192; length *= 1024) {
    measure("pingpong", pingpong, length);
    measure("exchange", exchange, length);
    measure("allreduce", allreduce, length);
    measure("bcast", bcast, length);
  }
  measure("barrier", barrier, 0);
  MPI_Finalize();
  return 0;
}
