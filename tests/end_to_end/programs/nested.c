/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested regions of each shape under each schedule: every iteration of each inner loop must run exactly once. Prints
 * "all once" and the number of loops. Arguments: executions of each shape (2), most outer threads (8), most inner
 * threads (4). */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 17
#define MOST 240
static int seen[TASKS][MOST];
static long loops, wrong;

static void check(const char* what, int outer, int inner) {
  int bad = 0;
  for (int i = 0; i < TASKS; ++i)
    for (int j = 0; j < MOST; ++j) bad += seen[i][j] != 1;
  if (bad) {
    printf("%s, %d x %d threads: %d iterations not exactly once\n", what, outer, inner, bad);
    ++wrong;
  }
  loops += TASKS;
  memset(seen, 0, sizeof seen);
}

#define TEXT(...) #__VA_ARGS__
#define DO(...) _Pragma(TEXT(__VA_ARGS__))
#define MARK(i, j) \
  {                \
    DO(omp atomic) \
    ++seen[i][j];  \
  }

/* One construct, a region with two loops of which the first does not wait, and one level more. */
#define SHAPES(outer_schedule, ...)                                                  \
  for (int outer = 1; outer <= most_outer; ++outer)                                  \
    for (int inner = 1; inner <= most_inner; ++inner)                                \
      for (int time = 0; time < times; ++time) {                                     \
        DO(omp parallel for num_threads(outer) schedule(outer_schedule))             \
        for (int i = 0; i < TASKS; ++i) {                                            \
          DO(omp parallel for num_threads(inner) schedule(__VA_ARGS__))              \
          for (int j = 0; j < MOST; ++j) MARK(i, j)                                  \
        }                                                                            \
        check("one construct, " #outer_schedule " and " #__VA_ARGS__, outer, inner); \
        DO(omp parallel for num_threads(outer) schedule(outer_schedule))             \
        for (int i = 0; i < TASKS; ++i) {                                            \
          DO(omp parallel num_threads(inner)) {                                      \
            DO(omp for schedule(__VA_ARGS__) nowait)                                 \
            for (int j = 0; j < MOST / 2; ++j) MARK(i, j)                            \
            DO(omp for schedule(__VA_ARGS__))                                        \
            for (int j = MOST / 2; j < MOST; ++j) MARK(i, j)                         \
          }                                                                          \
        }                                                                            \
        check("two loops, " #outer_schedule " and " #__VA_ARGS__, outer, inner);     \
      }

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 2;
  const int most_outer = argc > 2 ? atoi(argv[2]) : 8, most_inner = argc > 3 ? atoi(argv[3]) : 4;
  omp_set_max_active_levels(3);
  SHAPES(static, guided)
  SHAPES(static, dynamic)
  SHAPES(static, dynamic, 7)
  SHAPES(static, guided, 5)
  SHAPES(dynamic, guided)
  SHAPES(dynamic, dynamic, 3)
  SHAPES(dynamic, runtime)
  SHAPES(guided, auto)
  SHAPES(runtime, static)
  SHAPES(runtime, nonmonotonic : dynamic)
  /* Three levels, and teams that change their size from region to region. */
  for (int time = 0; time < 10 * times; ++time) {
#pragma omp parallel for num_threads(1 + time % most_outer) schedule(dynamic)
    for (int i = 0; i < TASKS; ++i) {
#pragma omp parallel for num_threads(1 + (time + i) % most_inner) schedule(dynamic)
      for (int part = 0; part < 4; ++part) {
#pragma omp parallel for num_threads(1 + i % 2) schedule(dynamic)
        for (int j = part * MOST / 4; j < (part + 1) * MOST / 4; ++j) MARK(i, j)
      }
    }
    check("three levels", time % most_outer + 1, most_inner);
  }
  printf("%s: %ld loops, %ld wrong\n", wrong ? "not all once" : "all once", loops, wrong);
  return wrong != 0;
}
