/* SPDX-License-Identifier: BSD-3-Clause */
// Counts how often each of its regions' bodies is run, and by how many threads at once; checks what its loops compute.
// Prints "<region> <times>" for each, in its last execution.
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(condition) \
  if (!(condition)) fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), failures = 1
enum { kIterations = 1000, kExecutions = 6 };

static int failures;
static int runs[kIterations], times;
static long part_of[kIterations];

static void begin(void) {
  times = 0;
  for (int i = 0; i < kIterations; ++i) runs[i] = 0;
}

static void end(const char* region, int execution) {
  for (int i = 0; i < kIterations; ++i) CHECK(runs[i] == 1);
  if (execution == kExecutions - 1) printf("%s %d\n", region, times);
}

__attribute__((noipa)) static void plain(void) {
#pragma omp parallel
  {
#pragma omp atomic
    ++times;
#pragma omp for
    for (int i = 0; i < kIterations; ++i) {
#pragma omp atomic
      ++runs[i];
    }
  }
}

// Each thread finds in the second loop what it has written in the first.
__attribute__((noipa)) static void two_loops(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    long mine = 0;
#pragma omp atomic capture
    mine = ++times;
#pragma omp for nowait
    for (int i = 0; i < kIterations; ++i) part_of[i] = mine;
#pragma omp for nowait
    for (int i = 0; i < kIterations; ++i) {
      wrong += part_of[i] != mine;
#pragma omp atomic
      ++runs[i];
    }
  }
  CHECK(wrong == 0);
}

__attribute__((noipa)) static void barrier(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
#pragma omp atomic
    ++times;
#pragma omp for
    for (int i = 0; i < kIterations; ++i) part_of[i] = i;
#pragma omp for
    for (int i = 0; i < kIterations; ++i) {
      wrong += part_of[kIterations - 1 - i] != kIterations - 1 - i;
      part_of[kIterations - 1 - i] = kIterations - 1 - i;
#pragma omp atomic
      ++runs[i];
    }
  }
  CHECK(wrong == 0);
}

__attribute__((noipa)) static void clause(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    ++times;
#pragma omp for
    for (int i = 0; i < kIterations; ++i) {
#pragma omp atomic
      ++runs[i];
    }
  }
}

__attribute__((noipa)) static void by_id(void) {
  int team = 0, seen[64] = {0};
#pragma omp parallel
  {
#pragma omp atomic
    ++times;
    team = omp_get_num_threads();
#pragma omp atomic
    ++seen[omp_get_thread_num() % 64];
#pragma omp for
    for (int i = 0; i < kIterations; ++i) {
#pragma omp atomic
      ++runs[i];
    }
  }
  for (int thread = 0; thread < team; ++thread) CHECK(seen[thread] == 1);
}

// A sum, a last value, and a maximum under a lock.
__attribute__((noipa)) static void combined(void) {
  long sum = 0, last = -1, most = 0;
#pragma omp parallel for reduction(+ : sum) lastprivate(last)
  for (int i = 0; i < kIterations; ++i) {
    sum += i;
    last = i;
#pragma omp critical
    if (i > most) most = i;
#pragma omp atomic
    ++runs[i];
  }
  CHECK(sum == (long)kIterations * (kIterations - 1) / 2 && last == kIterations - 1 && most == kIterations - 1);
}

// Nothing is captured: the compiler may end the function by a jump, and the call returns to its caller, from both
// regions.
static double left[kIterations], right[kIterations];
static int wrong_ahead;
__attribute__((noipa)) static void no_barrier(void) {
#pragma omp parallel for
  for (int i = 0; i < kIterations; ++i) left[i] += 1;
}
__attribute__((noipa)) static void with_barrier(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < kIterations; ++i) left[i] += 1;
#pragma omp for
    for (int i = 0; i < kIterations; ++i) {
      if (left[kIterations - 1 - i] != left[i]) {
#pragma omp atomic
        ++wrong_ahead;
      }
      right[i] += 1;
    }
  }
}
__attribute__((noipa)) static void dispatch(void (*region)(void)) {
  region();
  __asm__ volatile("");
}
__attribute__((noipa)) static void two_at_one_place(void) {
  for (int n = 0; n < 20; ++n) dispatch(n % 4 == 3 ? with_barrier : no_barrier);
  CHECK(wrong_ahead == 0);
  for (int i = 0; i < kIterations; ++i) runs[i] = 1;
}

// As gcc before 4.9 begins a region.
void GOMP_parallel_start(void (*)(void*), void*, unsigned);
void GOMP_parallel_end(void);
static void old_body(void* data) {
  const int threads = omp_get_num_threads(), id = omp_get_thread_num();
  int share = kIterations / threads, before = kIterations % threads;
  if (id < before) {
    ++share;
    before = 0;
  }
  const int first = share * id + before;
  for (int i = first; i < first + share; ++i) {
#pragma omp atomic
    ++((int*)data)[i];
  }
}
__attribute__((noipa)) static void old(void) {
  GOMP_parallel_start(old_body, runs, 0);
  old_body(runs);
  GOMP_parallel_end();
}

// Another thread begins regions of its own meanwhile: they are none of Steelyard's.
static void* beside(void* argument) {
  long sum = 0;
  for (int i = 0; i < 50; ++i) {
#pragma omp parallel for reduction(+ : sum)
    for (int j = 0; j < 100; ++j) sum += j;
  }
  *(long*)argument = sum;
  return NULL;
}

int main(void) {
  static const struct {
    const char* name;
    void (*run)(void);
  } regions[] = {{"plain", plain},
                 {"two_loops", two_loops},
                 {"barrier", barrier},
                 {"clause", clause},
                 {"by_id", by_id},
                 {"combined", combined},
                 {"two_at_one_place", two_at_one_place},
                 {"old", old}};
  for (size_t n = 0; n < sizeof regions / sizeof *regions; ++n) {
    for (int execution = 0; execution < kExecutions; ++execution) {
      begin();
      regions[n].run();
      end(regions[n].name, execution);
    }
  }
  long sum = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, beside, &sum);
  for (int execution = 0; execution < 50; ++execution) {
    begin();
    plain();
    end("beside", 0);
  }
  pthread_join(thread, NULL);
  CHECK(sum == 50 * 4950);
  return failures;
}
