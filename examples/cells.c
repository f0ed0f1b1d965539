/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank integrates the chemistry of its own cells. Rank 0 has three times as many cells as any other rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 4000, SUBSTEPS = 500 };

static double a[3 * CELLS], b[3 * CELLS];

/* One step of a cell: a reacts to b and back. */
static void react(double* x, double* y) {
  for (int i = 0; i < SUBSTEPS; ++i) {
    const double change = 1e-4 * (*x - *y * *y);
    *x -= change;
    *y += change;
  }
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 200;
  int rank, ranks;
  double mine = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int cells = rank == 0 ? 3 * CELLS : CELLS;
  for (int i = 0; i < cells; ++i) a[i] = 1 + i % 7;
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
    for (int i = 0; i < cells; ++i) react(&a[i], &b[i]);
    mine = 0;
#pragma omp parallel for reduction(+ : mine)
    for (int i = 0; i < cells; ++i) mine += a[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("cells: steps %d, seconds %.2f, checksum %.6f\n", steps, MPI_Wtime() - start, all / CELLS / (ranks + 2));
  MPI_Finalize();
  return 0;
}
