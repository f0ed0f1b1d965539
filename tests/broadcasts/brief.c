/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that live for a few broadcasts: brief COUNT. Prints how many barriers and allgathers beside the
 * program's own each of them costs, and the median of its time, by MPI_Bcast and by the MPI library's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int asked = 0;

int PMPI_Barrier(MPI_Comm comm) {
  typedef int Barrier(MPI_Comm);
  static Barrier* real = NULL;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "PMPI_Barrier");
  ++asked;
  return real(comm);
}

int PMPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                   MPI_Comm comm) {
  typedef int Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  static Allgather* real = NULL;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "PMPI_Allgather");
  ++asked;
  return real(from, count, type, to, to_count, to_type, comm);
}

static int wrong = 0;

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median of a communicator's time, ms. */
static double brief(int count, int (*bcast)(void*, int, MPI_Datatype, int, MPI_Comm)) {
  double* times = malloc((size_t)count * sizeof *times);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    const double start = MPI_Wtime();
    MPI_Comm comm;
    int rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    for (int j = 0; j < 5; ++j) {
      int told = rank == j % size ? i + j : -1;
      bcast(&told, 1, MPI_INT, j % size, comm);
      if (told != i + j) ++wrong;
    }
    MPI_Comm_free(&comm);
    times[i] = 1e3 * (MPI_Wtime() - start);
  }
  qsort(times, (size_t)count, sizeof *times, ascending);
  const double median = times[count / 2];
  free(times);
  return median;
}

int main(int argc, char** argv) {
  int rank, all = 0;
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int before = asked;
  const double ours = brief(count, MPI_Bcast);
  const double each = (asked - before - 1.0) / count;
  const double theirs = brief(count, PMPI_Bcast);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("brief: %.1f collectives of our own each, %.3f ms, %.3f ms by the library, %d wrong\n", each, ours, theirs,
           all);
  return MPI_Finalize();
}
