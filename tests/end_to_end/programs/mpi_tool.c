/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool that measures MPI, in one of the two ways that tools have: it defines MPI_X and calls PMPI_X (mpiP, Score-P,
 * Extrae), or, with -DRENAMED, it defines MPI_X and PMPI_X and looks the next PMPI_X up (Darshan). At MPI_Finalize,
 * rank 0 prints how often the program has called what. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { INIT, BARRIER, BCAST, ALLREDUCE, RECV, KINDS };
static int calls[KINDS];

#ifdef RENAMED
#define NEXT(name) ((__typeof__(&name))next(#name))
#define BOTH_NAMES(result, name, arguments) result P##name arguments __attribute__((alias(#name)))
static void* next(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (!function) abort();
  return function;
}
BOTH_NAMES(int, MPI_Init, (int*, char***));
BOTH_NAMES(int, MPI_Init_thread, (int*, char***, int, int*));
BOTH_NAMES(int, MPI_Finalize, (void));
#else
#define NEXT(name) name

int MPI_Barrier(MPI_Comm comm) {
  ++calls[BARRIER];
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++calls[BCAST];
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++calls[ALLREDUCE];
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Recv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  ++calls[RECV];
  return PMPI_Recv(to, count, type, source, tag, comm, status);
}
#endif

int MPI_Init(int* argc, char*** argv) {
  ++calls[INIT];
  return NEXT(PMPI_Init)(argc, argv);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  ++calls[INIT];
  return NEXT(PMPI_Init_thread)(argc, argv, required, provided);
}

/* As tools do that reduce their figures: what they call then is not the program's. */
int MPI_Finalize(void) {
  int sums[KINDS], rank;
  PMPI_Reduce(calls, sums, KINDS, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("tool: init %d, barrier %d, bcast %d, allreduce %d, recv %d\n", sums[INIT], sums[BARRIER], sums[BCAST],
           sums[ALLREDUCE], sums[RECV]);
  fflush(stdout);
  PMPI_Barrier(MPI_COMM_WORLD);
  return NEXT(PMPI_Finalize)();
}
