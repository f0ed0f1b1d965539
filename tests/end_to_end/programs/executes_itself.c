// SPDX-License-Identifier: BSD-3-Clause
// Sets a variable and executes itself before MPI_Init, as programs do that need another stack limit or library path.
// With an argument, it tries to execute the program of that name instead.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc > 1) {
    execvp(argv[1], argv + 1);
  } else if (getenv("EXECUTED_ITSELF") == NULL) {
    setenv("EXECUTED_ITSELF", "1", 1);
    execv(argv[0], argv);
    return 1;
  }
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) printf("ranks %d\n", size);
  MPI_Finalize();
  return 0;
}
