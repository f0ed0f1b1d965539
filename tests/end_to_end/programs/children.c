/* SPDX-License-Identifier: BSD-3-Clause */
// Starts a child, which shows its environment, between MPI_Init and MPI_Finalize; with an argument, before MPI_Init.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int early = argc > 1;
  int status = early ? system("env") : 0;
  MPI_Init(&argc, &argv);
#pragma omp parallel
  {
  }
  if (!early) status = system("env");
  MPI_Finalize();
  return status == 0 ? 0 : 1;
}
