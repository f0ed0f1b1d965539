# SPDX-License-Identifier: BSD-3-Clause
"""What each generated C and C++ program begins with: counts, checks, delays."""

C = r"""#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long Word;
static Word checksum = 14695981039346656037ULL;
static int wrong, wrong_here;
static int rank, ranks = 1;
static char first_wrong[200]; /* of this construct, on other ranks than 0 */

/* Reports at most five failures of a construct. Any thread. */
static void expect(int right, const char* what, long long seen, long long wanted) {
  if (right) return;
  __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  const int before = __atomic_fetch_add(&wrong_here, 1, __ATOMIC_RELAXED);
  if (rank == 0 && before < 5) printf(" WRONG %s: %lld, not %lld;", what, seen, wanted);
  if (rank != 0 && before == 0) snprintf(first_wrong, sizeof first_wrong, "%s: %lld, not %lld", what, seen, wanted);
}
static void equal(const char* what, long long seen, long long wanted) { expect(seen == wanted, what, seen, wanted); }
static void at_most(const char* what, long long seen, long long most) { expect(seen <= most, what, seen, most); }
/* Adds a value that must be the same in each run. One thread at a time. */
static void note(Word value) { checksum = (checksum ^ value) * 1099511628211ULL; }

static int add(int* where, int what) { return __atomic_add_fetch(where, what, __ATOMIC_SEQ_CST); }
static long add_long(long* where, long what) { return __atomic_add_fetch(where, what, __ATOMIC_SEQ_CST); }
static int get(int* where) { return __atomic_load_n(where, __ATOMIC_SEQ_CST); }

/* Uneven work, so that threads come late in other places each time. */
static void work(long k, int pattern) {
  volatile long sink = 0;
  long spins = 0;
  if (pattern == 1) spins = (k % 7) * 40;
  if (pattern == 2 && k % 32 == 5) spins = 20000;
  if (pattern == 3 && k % 16 == 3) sched_yield();
  if (pattern == 4 && k % 64 == 9) usleep(50);
  if (pattern == 5) spins = k * 4;
  if (pattern == 6 && k == 0) usleep(300);
  for (long i = 0; i < spins; ++i) sink += i;
}

enum { SLOTS = 64 };
typedef struct {
  long count;
  int monotonic;               /* whether each thread must come to ascending iterations */
  int* hits;
  long* owner;                 /* the thread of each iteration */
  long thread[SLOTS];          /* threads seen, and the last iteration of each */
  long last[SLOTS];
} Tally;

static Tally* new_tally(long count) {
  Tally* t = (Tally*)calloc(1, sizeof(Tally));
  t->count = count;
  t->hits = (int*)calloc(count + 1, sizeof(int));
  t->owner = (long*)calloc(count + 1, sizeof(long));
  return t;
}
static void drop_tally(Tally* t) {
  free(t->hits);
  free(t->owner);
  free(t);
}
/* Iteration `k` of the loop runs now on thread `who`. */
static void hit_by(Tally* t, long k, long who) {
  if (k < 0 || k >= t->count) {
    expect(0, "iteration outside of the loop", k, t->count);
    return;
  }
  __atomic_fetch_add(&t->hits[k], 1, __ATOMIC_RELAXED);
  __atomic_store_n(&t->owner[k], who, __ATOMIC_RELAXED);
  if (!t->monotonic) return;
  for (int i = 0; i < SLOTS; ++i) {
    long none = 0;
    if (__atomic_load_n(&t->thread[i], __ATOMIC_ACQUIRE) == who) {
      expect(t->last[i] < k, "iteration that is not above the last one of its thread", k, t->last[i]);
      t->last[i] = k;
      return;
    }
    if (__atomic_compare_exchange_n(&t->thread[i], &none, who, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      t->last[i] = k;
      return;
    }
    if (none == who) --i;
  }
}
static void hit(Tally* t, long k) { hit_by(t, k, (long)pthread_self()); }
static void check_times(Tally* t, int times) {
  for (long k = 0; k < t->count; ++k)
    if (t->hits[k] != times)
      expect(0, "executions of an iteration", t->hits[k], times), expect(0, "  in iteration", k, t->count);
}
static void check_at_most_once(Tally* t) {
  for (long k = 0; k < t->count; ++k) at_most("executions of a cancelled loop's iteration", t->hits[k], 1);
}
/* Chunks of `chunk` iterations, the last one aside: dynamic. */
static void check_chunks(Tally* t, long chunk) {
  for (long k = 0; k < t->count; ++k)
    if (t->owner[k] != t->owner[k - k % chunk]) expect(0, "a chunk was divided at iteration", k, chunk);
}
/* Chunks of `chunk` iterations or more, the last one aside: guided. */
static void check_least_chunks(Tally* t, long chunk) {
  long first = 0;
  for (long k = 1; k < t->count; ++k)
    if (t->owner[k] != t->owner[k - 1]) {
      expect(k - first >= chunk, "length of a guided chunk", k - first, chunk);
      first = k;
    }
}
/* Chunk c belongs to thread c modulo `team`; owners are thread numbers + 1: static with a chunk size. */
static void check_round_robin(Tally* t, long chunk, long team) {
  for (long k = 0; k < t->count; ++k) equal("thread of a static chunk", t->owner[k] - 1, k / chunk % team);
}
static int runtime_is_monotonic(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  if ((unsigned)kind & 0x80000000u) return 1;
  /* What is not set is the runtime's choice, and Steelyard's. */
  return getenv("OMP_SCHEDULE") != NULL && ((unsigned)kind & 0x7fffffffu) == omp_sched_static;
}
/* Whether a region with num_threads(n) that begins here must have n threads. */
static int count_is_promised(void) {
  return !omp_get_dynamic() && omp_get_active_level() < omp_get_max_active_levels() && omp_get_thread_limit() >= 1000;
}
static void check_team(int promised, int threads) {
  if (promised) equal("threads of a team", omp_get_num_threads(), threads);
  at_most("threads of a team", omp_get_num_threads(), threads);
}
"""

C_MAIN_BEGIN = r"""
static void run(int number, const char* kind, void (*construct)(void)) {
  wrong_here = 0;
  printf("%d %s:", number, kind);
  fflush(stdout);
  construct();
  printf(wrong_here ? " wrong\n" : " right %016llx\n", checksum);
  fflush(stdout);
}
int main(void) {
"""

C_MAIN_END = r"""  printf("%s %016llx\n", wrong ? "wrong" : "ok", checksum);
  return wrong != 0;
}
"""
