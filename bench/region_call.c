/* SPDX-License-Identifier: BSD-3-Clause */
// What steelyard_region_begin() and steelyard_region_end() cost together, of one name and of a thousand in turn.
// Without `steelyard run`: what two calls cost that do nothing.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "steelyard/regions.h"

enum { names = 1000, most_batches = 100000 };

static char name[names][32];
static double ns[most_batches];

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(int different, int batches) {
  for (int batch = -1; batch < batches; ++batch) {
    const double start = MPI_Wtime();
    for (int i = 0; i < names; ++i) {
      steelyard_region_begin(name[i % different]);
      steelyard_region_end(name[i % different]);
    }
    if (batch >= 0) ns[batch] = (MPI_Wtime() - start) * 1e9 / names;
  }
  qsort(ns, (size_t)batches, sizeof ns[0], ascending);
  printf("region_call: %d names, %.1f ns per region in the best tenth of %d batches, %.1f in the median\n", different,
         ns[batches / 10], batches, ns[batches / 2]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int batches = argc == 2 ? atoi(argv[1]) : 1000;
  if (batches < 1 || batches > most_batches) {
    fprintf(stderr, "usage: region_call [BATCHES]   a batch is %d regions; 1 to %d, 1000 if not given\n", names,
            most_batches);
    MPI_Finalize();
    return 2;
  }
  for (int i = 0; i < names; ++i) snprintf(name[i], sizeof name[i], "region of the program %d", i);
  measure(1, batches);
  measure(names, batches);
  MPI_Finalize();
  return 0;
}
