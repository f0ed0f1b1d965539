// SPDX-License-Identifier: BSD-3-Clause
// late_openmp LIBRARY STEPS: loads its only OpenMP code after MPI_Init. Rank 0 has four times the work of each other
// rank.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  int rank, least = 1 << 20, most = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* const library = count > 2 ? dlopen(words[1], RTLD_NOW) : NULL;
  long (*work)(int, double) = NULL;
  int (*team)(void) = NULL;
  if (library != NULL) {
    *(void**)&work = dlsym(library, "work");
    *(void**)&team = dlsym(library, "team");
  }
  if (work == NULL || team == NULL) {
    fprintf(stderr, "late_openmp: %s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int step = atoi(words[2]); step > 0; --step) {
    long done = work(rank == 0 ? 16 : 4, 0.001), total = 0;
    const int threads = team();
    least = threads < least ? threads : least;
    most = threads > most ? threads : most;
    MPI_Allreduce(&done, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("rank %d: teams of %d to %d\n", rank, least, most);
  MPI_Finalize();
  return 0;
}
