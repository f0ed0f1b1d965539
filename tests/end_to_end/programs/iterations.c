/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of many shapes under each schedule: every iteration must run exactly once, with Steelyard or without. Prints
 * "all once" and what it has counted. With -DPLAIN it is a program without MPI. */
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef PLAIN
#include <mpi.h>
#endif

#define MOST 5000
__extension__ typedef __int128 wide; /* holds each distance */
static int seen[MOST];
static long loops, wrong;

static void mark(long index) {
  if (index < 0 || index >= MOST) {
#pragma omp atomic
    ++wrong;
    return;
  }
#pragma omp atomic
  ++seen[index];
}

static void check(const char* what, long count, int threads) {
  int bad = 0;
  for (long i = 0; i < MOST; ++i) bad += seen[i] != (i < count);
  if (bad) {
    printf("%s with %d threads: %d of %ld iterations not exactly once\n", what, threads, bad, count);
    ++wrong;
  }
  ++loops;
  memset(seen, 0, sizeof seen);
}

#define TEXT(...) #__VA_ARGS__
#define DO(...) _Pragma(TEXT(__VA_ARGS__))

#define UP(T, first, last, step, ...)                                                \
  {                                                                                  \
    const T from = (first), to = (last);                                             \
    DO(omp parallel num_threads(threads))                                            \
    DO(omp for schedule(__VA_ARGS__))                                                \
    for (T i = from; i < to; i += (step)) mark((long)(((wide)i - from) / (step)));   \
    check(#T " up by " #step " from " #first ", " #__VA_ARGS__,                      \
          from < to ? (long)(((wide)to - from + (step) - 1) / (step)) : 0, threads); \
  }
#define DOWN(T, first, last, step, ...)                                              \
  {                                                                                  \
    const T from = (first), to = (last);                                             \
    DO(omp parallel num_threads(threads))                                            \
    DO(omp for schedule(__VA_ARGS__))                                                \
    for (T i = from; i > to; i -= (step)) mark((long)(((wide)from - i) / (step)));   \
    check(#T " down by " #step " from " #first ", " #__VA_ARGS__,                    \
          from > to ? (long)(((wide)from - to + (step) - 1) / (step)) : 0, threads); \
  }
/* One construct with constant bounds: gcc has entry points of its own for it. */
#define COMBINED(T, first, last, step, ...)                                                                  \
  {                                                                                                          \
    DO(omp parallel for num_threads(threads) schedule(__VA_ARGS__))                                          \
    for (T i = (first); i < (last); i += (step)) mark((long)((i - (first)) / (step)));                       \
    check(#T " in one construct, " #__VA_ARGS__, (long)(((last) - (first) + (step) - 1) / (step)), threads); \
  }
#define SHAPES(...)                                                             \
  UP(int, 0, 1000, 1, __VA_ARGS__)                                              \
  UP(int, 5, 5, 1, __VA_ARGS__)                                                 \
  UP(int, 3, 4, 9, __VA_ARGS__)                                                 \
  UP(int, INT_MIN, INT_MIN + 700, 7, __VA_ARGS__)                               \
  UP(unsigned, UINT_MAX - 2000, UINT_MAX, 2, __VA_ARGS__)                       \
  UP(long, LONG_MAX - 501, LONG_MAX, 1, __VA_ARGS__)                            \
  UP(long, -(1L << 40), 1L << 40, 1L << 31, __VA_ARGS__)                        \
  UP(unsigned long, ULONG_MAX - 3000, ULONG_MAX, 3, __VA_ARGS__)                \
  UP(unsigned long, 0, ULONG_MAX - ULONG_MAX / 16, ULONG_MAX / 16, __VA_ARGS__) \
  DOWN(int, 1000, 0, 1, __VA_ARGS__)                                            \
  DOWN(int, 0, 10, 1, __VA_ARGS__)                                              \
  DOWN(long, LONG_MIN + 4000, LONG_MIN, 4, __VA_ARGS__)                         \
  DOWN(unsigned long, ULONG_MAX, ULONG_MAX - 999, 9, __VA_ARGS__)               \
  COMBINED(int, 0, 900, 1, __VA_ARGS__)                                         \
  COMBINED(long, -30, 3000, 7, __VA_ARGS__)                                     \
  COMBINED(unsigned long, 10, 1010, 2, __VA_ARGS__)

/* A loop of each caller: its copies have different addresses. */
static inline __attribute__((always_inline)) void orphaned(int n) {
#pragma omp for schedule(dynamic, 4)
  for (int i = 0; i < n; ++i) mark(i);
}

/* Not with one thread: LLVM's runtime crashes there under gcc's entry points. */
static void doacross(int threads) {
  static int done[501];
  memset(done, 0, sizeof done);
#pragma omp parallel for num_threads(threads) schedule(dynamic) ordered(1)
  for (int i = 1; i <= 500; ++i) {
#pragma omp ordered depend(sink : i - 1)
    done[i] = done[i - 1] + 1;
#pragma omp ordered depend(source)
    mark(i - 1);
  }
  wrong += done[500] != 500;
  check("doacross", 500, threads);
}

/* What schedule(runtime) stands for may want an order of chunks, and chunks that stay whole. */
static void run_schedule(omp_sched_t kind, int chunk, int threads) {
  static int by[2][2000];
  const int monotonic = ((unsigned)kind & (unsigned)omp_sched_monotonic) != 0;
  const int end = 2000; /* gcc has entry points of its own where it is not known */
  int before[64], sorted = 1;
  omp_sched_t kind_before;
  int chunk_before;
  for (int t = 0; t < 64; ++t) before[t] = -1;
  omp_get_schedule(&kind_before, &chunk_before);
  omp_set_schedule(kind, chunk);
#pragma omp parallel for num_threads(threads) schedule(runtime) reduction(&& : sorted)
  for (int i = 0; i < 2000; ++i) {
    const int thread = omp_get_thread_num();
    /* What would be the first thread's part takes long: the others would take from its end, and go back. */
    for (volatile int work = i < 2000 / threads ? 1000 : 0; work > 0; --work) {
    }
    sorted = sorted && before[thread] < i;
    before[thread] = i;
    by[0][i] = thread;
    mark(i);
  }
  check("runtime in one construct", 2000, threads);
#pragma omp parallel num_threads(threads) reduction(&& : sorted)
  {
    long last = -1;
#pragma omp for schedule(runtime)
    for (unsigned long i = 0; i < (unsigned long)end; ++i) {
      for (volatile int work = (int)i < 2000 / threads ? 1000 : 0; work > 0; --work) {
      }
      sorted = sorted && last < (long)i;
      last = (long)i;
      by[1][i] = omp_get_thread_num();
      mark((long)i);
    }
  }
  check("runtime", 2000, threads);
  omp_set_schedule(kind_before, chunk_before);
  int whole = 1;
  for (int i = 0; i < 2000; ++i)
    for (int loop = 0; loop < 2; ++loop) whole = whole && by[loop][i] == by[loop][i - i % chunk];
  if ((monotonic && !sorted) || !whole) {
    printf("runtime, kind %x by %d, %d threads: %s, %s\n", (unsigned)kind, chunk, threads,
           sorted ? "in order" : "not in order", whole ? "whole chunks" : "chunks that have parted");
    ++wrong;
  }
}

static void teams(int threads) {
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() % 2 == 0)
      orphaned(1234);
    else
      orphaned(1234);
  }
  check("copies of a loop", 1234, threads);

  /* Threads may be many loops apart. */
#pragma omp parallel num_threads(threads)
  for (int step = 0; step < 20; ++step) {
#pragma omp for schedule(dynamic, 2) nowait
    for (int i = step * 100; i < step * 100 + 100; ++i) mark(i);
#pragma omp for schedule(guided) nowait
    for (int i = 2000 + step * 50; i < 2050 + step * 50; ++i) mark(i);
  }
  check("nowait", 3000, threads);

#pragma omp parallel num_threads(2)
#pragma omp for schedule(dynamic)
  for (int outer = 0; outer < 6; ++outer) {
#pragma omp parallel for num_threads(threads) schedule(guided, 2)
    for (int i = outer * 300; i < outer * 300 + 300; ++i) mark(i);
  }
  check("nested", 1800, threads);

  long next = 0, late = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 3) ordered
  for (int i = 0; i < 500; ++i) {
#pragma omp ordered
    {
      late += next++ != i;
      mark(i);
    }
  }
  wrong += late;
  check("ordered", 500, threads);

  if (threads > 1) doacross(threads);

  int before[64], sorted = 1;
  for (int t = 0; t < 64; ++t) before[t] = -1;
#pragma omp parallel for num_threads(threads) schedule(monotonic : dynamic) reduction(&& : sorted)
  for (int i = 0; i < 2000; ++i) {
    sorted = sorted && before[omp_get_thread_num()] < i;
    before[omp_get_thread_num()] = i;
    mark(i);
  }
  wrong += !sorted;
  check("monotonic", 2000, threads);
#pragma omp parallel num_threads(threads)
#pragma omp for schedule(monotonic : dynamic, 3)
  for (unsigned long i = 5; i < 1005; ++i) mark((long)i - 5);
  check("monotonic, unsigned long", 1000, threads);
  for (int repeat = 0; repeat < 10; ++repeat) {
    int last = -1;
    long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) lastprivate(last) reduction(+ : sum)
    for (int i = 0; i < 777; ++i) {
      last = i;
      sum += i;
      mark(i);
    }
    wrong += last != 776 || sum != 776L * 777 / 2;
    check("lastprivate", 777, threads);
  }

#pragma omp parallel for num_threads(threads) schedule(dynamic) collapse(2)
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j) mark(i * 40 + j);
  check("collapse", 1200, threads);
}

/* Loops and regions that are cancelled, and loops after them. */
static void cancelled(int threads) {
  /* Cancelled: each at most once; what follows is whole again. Needs OMP_CANCELLATION=true to mean anything. */
  for (int repeat = 0; repeat < 5; ++repeat) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 2000; ++i) {
        mark(i);
#pragma omp cancel for if (i == 100 + repeat)
      }
#pragma omp for schedule(dynamic)
      for (int i = 2000; i < 3000; ++i) mark(i);
    }
    for (int i = 0; i < 2000; ++i) {
      wrong += seen[i] > 1;
      seen[i] = 1;
    }
    check("after a cancelled loop", 3000, threads);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(guided) nowait
      for (int i = 0; i < 1000; ++i) mark(i);
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
#pragma omp for schedule(dynamic)
      for (int i = 1000; i < 2000; ++i) mark(i);
    }
    for (int i = 0; i < 2000; ++i) {
      wrong += seen[i] > 1;
      seen[i] = 0;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < 1000; ++i) mark(i);
    check("after a cancelled region", 1000, threads);
  }

  /* Cancelled while the others are some loops ahead. LLVM's own runtime never ends where they are more than 7. */
#pragma omp parallel num_threads(threads)
  {
    for (int step = 0; step < 6; ++step) {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 10; ++i) {
#pragma omp atomic
        ++seen[MOST - 1];
      }
      if (omp_get_thread_num() == 0 && omp_get_cancellation()) usleep(20000);
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
    }
#pragma omp barrier /* where clang's threads find each other again */
  }
  if (!omp_get_cancellation()) wrong += seen[MOST - 1] != 60; /* then it is a loop like others */
  seen[MOST - 1] = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int i = 0; i < 1000; ++i) mark(i);
  check("after a region that was cancelled late", 1000, threads);
}

/* Counters of its own: it runs beside others. */
static void* foreign(void* argument) {
  int* mine = argument;
  for (int step = 0; step < 20; ++step) {
#pragma omp parallel for num_threads(3) schedule(dynamic)
    for (int i = 0; i < 500; ++i) {
#pragma omp atomic
      ++mine[i];
    }
  }
  return NULL;
}

static void several_initial_threads(void) {
  static int counts[3][500];
  pthread_t threads[3];
  for (int t = 0; t < 3; ++t) pthread_create(&threads[t], NULL, foreign, counts[t]);
  for (int t = 0; t < 3; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 3; ++t)
    for (int i = 0; i < 500; ++i) wrong += counts[t][i] != 20;
  ++loops;
}

/* Prints for each iteration of a loop which thread has run it. */
static void print_threads(void) {
  char by[41] = "";
#pragma omp parallel for num_threads(2) schedule(dynamic)
  for (int i = 0; i < 40; ++i) by[i] = (char)('0' + omp_get_thread_num());
  puts(by);
}

int main(int argc, char** argv) {
  const int most = argc > 1 ? atoi(argv[1]) : 7;
  omp_set_max_active_levels(2); /* from here on there is an OpenMP runtime, under gcc, too */
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    print_threads();
    return 0;
  }
#ifndef PLAIN
  int rank = 0, provided = 0;
  {
    const int threads = 2;
    UP(int, 0, 100, 1, dynamic)
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
  const int counts[] = {1, 2, 3, 7};
  for (int c = 0; c < 4 && counts[c] <= most; ++c) {
    const int threads = counts[c];
    SHAPES(runtime)
    SHAPES(dynamic)
    SHAPES(dynamic, 3)
    SHAPES(dynamic, 3000)
    SHAPES(guided)
    SHAPES(guided, 5)
    SHAPES(auto)
    teams(threads);
    cancelled(threads);
  }
  /* At the end: they restore the schedule. A program that requests static by name has it from then on. */
  for (int c = 0; c < 4 && counts[c] <= most; ++c) {
    run_schedule((omp_sched_t)((unsigned)omp_sched_dynamic | (unsigned)omp_sched_monotonic), 4, counts[c]);
    run_schedule(omp_sched_dynamic, 64, counts[c]);
  }
  several_initial_threads();
#ifndef PLAIN
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0)
#endif
    printf("%s: %ld loops, %ld wrong\n", wrong == 0 ? "all once" : "WRONG", loops, wrong);
  return wrong != 0;
}
