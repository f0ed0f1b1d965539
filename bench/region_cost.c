/* SPDX-License-Identifier: BSD-3-Clause */
// What an empty parallel region costs: run it as it is and under `steelyard run`, and subtract. Batches are shorter
// than a time slice, so that even beside other programs a tenth of them is undisturbed.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { regions_in_batch = 100, most_batches = 100000 };

static double batch_ns(void) {
  const double start = omp_get_wtime();
  for (int i = 0; i < regions_in_batch; ++i) {
#pragma omp parallel
    __asm__ volatile("");
  }
  return (omp_get_wtime() - start) * 1e9 / regions_in_batch;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  static double ns[most_batches];
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int batches = argc == 2 ? atoi(argv[1]) : 2000;
  if (batches < 1 || batches > most_batches) {
    fprintf(stderr, "usage: region_cost [BATCHES]   a batch is %d regions; 1 to %d, 2000 if not given\n",
            regions_in_batch, most_batches);
    MPI_Finalize();
    return 2;
  }
  batch_ns();
  for (int i = 0; i < batches; ++i) {
    ns[i] = batch_ns();
    MPI_Barrier(MPI_COMM_WORLD);  // the end of a step
  }
  qsort(ns, (size_t)batches, sizeof ns[0], ascending);
  printf("region_cost: %d threads, %.1f ns per region in the best tenth of %d batches, %.1f in the median\n",
         omp_get_max_threads(), ns[batches / 10], batches, ns[batches / 2]);
  MPI_Finalize();
  return 0;
}
