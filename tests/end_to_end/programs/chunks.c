/* SPDX-License-Identifier: BSD-3-Clause */
/* What a schedule with a chunk size promises, seen from outside: which thread has run which iteration. Two threads take
 * turns: the thread that gets a new chunk waits until the other one has got a later chunk, so that neighbouring chunks
 * have different threads. Prints "as promised", or what is not; "no turns" if the machine was too busy in each
 * attempt. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

#define COUNT 1000
static int by[COUNT];
static atomic_int furthest, missed, done;

/* Called in each iteration of thread `me`, whose last iteration was `before`. */
static void turn(int i, int before, int me) {
  by[i] = me;
  if (i == before + 1 && i != 0) return;
  if (i > furthest) furthest = i;
  const double until = omp_get_wtime() + 0.05;
  while (furthest <= i && !done) {
    if (omp_get_wtime() > until) {
      missed = 1;
      return;
    }
  }
}

/* Sizes of runs of one thread, in `sizes`; their number. */
static int sizes_of(int* sizes) {
  int runs = 0;
  for (int i = 0, begin = 0; i < COUNT; ++i) {
    if (i + 1 < COUNT && by[i] == by[i + 1]) continue;
    sizes[runs++] = i + 1 - begin;
    begin = i + 1;
  }
  return runs;
}

/* Each chunk is the same share of what is left, and `least` or more. */
static int guided(int least) {
  int sizes[COUNT], left = COUNT;
  const int runs = sizes_of(sizes);
  const double share = (double)sizes[0] / COUNT;
  for (int r = 0; r + 2 < runs; ++r) { /* the last two may be of one chunk each, or merged */
    const double expected = share * left > least ? share * left : least;
    if (sizes[r] < least || sizes[r] > expected + 2 || sizes[r] < expected - 2) {
      printf("guided, %d: chunk %d has %d iterations, not %.1f\n", least, r, sizes[r], expected);
      return 0;
    }
    left -= sizes[r];
  }
  return runs > 3;
}

static int dynamic(int chunk) {
  int sizes[COUNT], right = 1;
  const int runs = sizes_of(sizes);
  for (int r = 0; r + 1 < runs; ++r) right = right && sizes[r] % chunk == 0;
  if (!right) printf("dynamic, %d: a chunk has parted\n", chunk);
  return right;
}

#define TEXT(...) #__VA_ARGS__
#define DO(...) _Pragma(TEXT(__VA_ARGS__))
#define ATTEMPTS(result, right, ...)                              \
  for (int attempt = 0; attempt < 20 && result != 0; ++attempt) { \
    furthest = missed = done = 0;                                 \
    DO(omp parallel num_threads(2)) {                             \
      const int me = omp_get_thread_num();                        \
      int before = -2;                                            \
      DO(omp barrier)                                             \
      DO(omp for schedule(__VA_ARGS__) nowait)                    \
      for (int i = 0; i < COUNT; ++i) {                           \
        turn(i, before, me);                                      \
        before = i;                                               \
      }                                                           \
      done = 1;                                                   \
    }                                                             \
    if (missed) continue;                                         \
    result = (right) ? 0 : 1;                                     \
    if (result == 1) break;                                       \
  }

int main(void) {
  int one = 2, some = 2, fixed = 2;
  ATTEMPTS(one, guided(1), guided)
  ATTEMPTS(some, guided(20), guided, 20)
  ATTEMPTS(fixed, dynamic(7), dynamic, 7)
  if (one == 1 || some == 1 || fixed == 1) return 1;
  puts(one == 0 && some == 0 && fixed == 0 ? "as promised" : "no turns");
  return 0;
}
