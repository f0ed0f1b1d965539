/* SPDX-License-Identifier: BSD-3-Clause */
/* A short run of a large program: 256 regions, each executed three times. Usage: many_regions */
#include <mpi.h>
#include <stdio.h>

enum { LENGTH = 20000 };
static double values[LENGTH];

/* Some code in each region, so that it takes a while to analyse. */
#define TERM(n, k) \
  sum += k % 2 ? values[i] * (n + k) + (double)(i % (k + 2)) : values[i] / (n + k + 1) - (double)(i / (k + 2))
#define TERMS(n, k) \
  TERM(n, k);       \
  TERM(n, k + 1);   \
  TERM(n, k + 2);   \
  TERM(n, k + 3)
#define REGION(n)                                                  \
  static void region_##n(int repeats) {                            \
    _Pragma("omp parallel for") for (int i = 0; i < LENGTH; ++i) { \
      double sum = 0;                                              \
      for (int r = 0; r < repeats; ++r) {                          \
        TERMS(n, 1);                                               \
        TERMS(n, 5);                                               \
        TERMS(n, 9);                                               \
        TERMS(n, 13);                                              \
      }                                                            \
      values[i] = sum > 1e9 ? 1 : sum / 1e6;                       \
    }                                                              \
  }
#define CALL(n) region_##n(repeats);
#define FOUR(x, n) x(n##0) x(n##1) x(n##2) x(n##3)
#define SIXTEEN(x, n) FOUR(x, n##0) FOUR(x, n##1) FOUR(x, n##2) FOUR(x, n##3)
#define SIXTY_FOUR(x, n) SIXTEEN(x, n##0) SIXTEEN(x, n##1) SIXTEEN(x, n##2) SIXTEEN(x, n##3)
#define ALL(x) SIXTY_FOUR(x, 1) SIXTY_FOUR(x, 2) SIXTY_FOUR(x, 3) SIXTY_FOUR(x, 4)
ALL(REGION)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int repeats = rank == 0 ? 3 : 1;
  for (int step = 0; step < 3; ++step) {
    ALL(CALL)
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d: %g\n", rank, values[LENGTH / 2]);
  MPI_Finalize();
  return 0;
}
