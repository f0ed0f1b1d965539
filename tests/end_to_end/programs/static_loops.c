/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain static loops, again and again, whose cost grows with the iteration. OpenMP promises that loops of one region
 * with as many iterations give each thread the same ones: the second loop of each pair, after `nowait`, counts on it.
 * Prints "all once". Usage: static_loops [REPEATS] */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 3000
__extension__ typedef __int128 wide; /* holds each distance */
static int seen[MOST];
static const char* owner[MOST];
static __thread char mine; /* its address identifies threads without a query of thread IDs */
static long wrong;

static void work(long n) {
  for (volatile long i = 0; i < n; ++i) {
  }
}

static void check(const char* what, long count) {
  long bad = 0;
  for (long i = 0; i < MOST; ++i) bad += seen[i] != 2 * (i < count);
  if (bad) printf("%s: %ld of %ld iterations not exactly once by the same thread\n", what, bad, count);
  wrong += bad;
  memset(seen, 0, sizeof seen);
}

#define PAIR(T, from, condition, step, index, count)                                                     \
  {                                                                                                      \
    T last = 0;                                                                                          \
    _Pragma("omp parallel") {                                                                            \
      _Pragma("omp for schedule(static) nowait") for (T i = (from); condition; i += (step)) {            \
        const long n = (index);                                                                          \
        work(n);                                                                                         \
        owner[n] = &mine;                                                                                \
        ++seen[n];                                                                                       \
      }                                                                                                  \
      _Pragma("omp for schedule(static) lastprivate(last)") for (T i = (from); condition; i += (step)) { \
        const long n = (index);                                                                          \
        seen[n] += owner[n] == &mine;                                                                    \
        last = i;                                                                                        \
      }                                                                                                  \
    }                                                                                                    \
    const T expected = (T)((from) + (T)((count) - 1) * (T)(step));                                       \
    wrong += (count) > 0 && last != expected;                                                            \
    check(#T " from " #from " by " #step, count);                                                        \
  }

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 60;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    PAIR(int, 0, i < 2000, 1, i, 2000)
    PAIR(int, 1000, i > 0, -1, 1000 - i, 1000)
    PAIR(int, INT_MIN, i < INT_MIN + 900, 3, (long)(((wide)i - INT_MIN) / 3), 300)
    PAIR(unsigned, UINT_MAX - 1000, i < UINT_MAX, 2, (long)((i - (UINT_MAX - 1000)) / 2), 500)
    PAIR(long, LONG_MIN + 1200, i > LONG_MIN, -4, (long)(((wide)LONG_MIN + 1200 - i) / 4), 300)
    PAIR(unsigned long, ULONG_MAX - 700, i < ULONG_MAX, 1, (long)(i - (ULONG_MAX - 700)), 700)
    PAIR(long, 0, i < 3, 1, i, 3)
    PAIR(long, 7, i < 7, 1, i, 0)
  }
  puts(wrong ? "wrong" : "all once");
  return wrong != 0;
}
