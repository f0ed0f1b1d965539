/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop by steelyard/loops.h in a program that has its OpenMP runtime linked into it: which iterations ran how
 * often? */
#include <omp.h>
#include <stdio.h>
#include <steelyard/loops.h>

enum { kIterations = 1000, kTimes = 20 };
static int runs[kIterations];

int main(void) {
  int refused = 0, threads = 0;
  for (int time = 0; time < kTimes; ++time) {
#pragma omp parallel num_threads(3) reduction(+ : refused)
    {
      steelyard_iterations_t mine;
      refused += steelyard_loop_begin(NULL, 0, kIterations, 1, &mine) != STEELYARD_SUCCESS;
      while (steelyard_loop_next(&mine)) {
        for (int64_t i = mine.begin; i < mine.end; ++i) {
#pragma omp atomic
          ++runs[i];
        }
      }
      steelyard_loop_end(&mine);
#pragma omp single
      threads = omp_get_num_threads();
    }
  }
  for (int i = 0; i < kIterations; ++i) {
    if (runs[i] == kTimes) continue;
    printf("iteration %d ran %d times, not %d\n", i, runs[i], kTimes);
    return 1;
  }
  printf("all once, %d of %d refused\n", refused, threads * kTimes);
  return 0;
}
