/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops and regions that are cancelled by one of their threads. The other threads have no cancellation point of their
 * own, so they run all that is left. Prints "all once" and what was checked. With an argument, regions are cancelled,
 * too. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define COUNT 2000
static int seen[COUNT];
static long wrong, checks;

static void mark(int i) {
#pragma omp atomic
  ++seen[i];
}

static void expect(const char* what, int from, int to, int least, int most, int threads) {
  ++checks;
  for (int i = from; i < to; ++i) {
    if (seen[i] >= least && seen[i] <= most) continue;
    printf("%s, %d threads: iteration %d ran %d times\n", what, threads, i, seen[i]);
    ++wrong;
    return;
  }
}

static void leave_a_loop(int threads) {
  memset(seen, 0, sizeof seen);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < COUNT; ++i) {
      mark(i);
      if (i == 7) {
#pragma omp cancel for
      }
    }
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < COUNT; ++i) mark(i);
#pragma omp for schedule(guided, 3)
    for (int i = 0; i < COUNT; ++i) mark(i);
  }
  const int rest = threads > 1 || !omp_get_cancellation();
  expect("a cancelled loop", 0, 8, 3, 3, threads);
  expect("a cancelled loop", 8, COUNT, 2 + rest, 3, threads);
}

static void leave_a_region(int threads) {
  memset(seen, 0, sizeof seen);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < COUNT; ++i) mark(i);
    if (omp_get_thread_num() == threads - 1) {
#pragma omp cancel parallel
    }
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < COUNT; ++i) mark(i);
  }
  const int rest = threads > 1 || !omp_get_cancellation();
  expect("a cancelled region", 0, COUNT, 1 + rest, 2, threads);
}

int main(int argc, char** argv) {
  (void)argv;
  for (int repeat = 0; repeat < 10; ++repeat) {
    for (int threads = 1; threads < 6; ++threads) {
      leave_a_loop(threads);
      if (argc > 1) leave_a_region(threads);
      memset(seen, 0, sizeof seen);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
      for (int i = 0; i < COUNT; ++i) mark(i);
      expect("after that", 0, COUNT, 1, 1, threads);
    }
  }
  printf("%s: %ld checks, %ld wrong\n", wrong ? "not all once" : "all once", checks, wrong);
  return wrong != 0;
}
