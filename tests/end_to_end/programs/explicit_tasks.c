/* SPDX-License-Identifier: BSD-3-Clause */
// Explicit tasks that compute, in one of several constructs. Prints the time that was spent in tasks, in ns, summed
// over threads, and their number. "nested": the time that the thread which begins the nested regions spends in them.
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRegions = 12, kTasks = 8 };

static long long spent, executed;

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(void) {
  const long long begin = now_ns();
  while (now_ns() < begin + 2000000) {
  }
  const long long took = now_ns() - begin;
#pragma omp atomic
  spent += took;
#pragma omp atomic
  ++executed;
}

// Its children run while it waits for them.
static void tree(int depth) {
  for (int child = 0; child < 2; ++child) {
    if (depth > 0) {
#pragma omp task
      tree(depth - 1);
    } else {
#pragma omp task
      work();
    }
  }
#pragma omp taskwait
}

static int taken(int* begun) {
  int yes;
#pragma omp atomic read
  yes = *begun;
  return yes;
}

// Another thread of the team executes a task, while this one waits for it.
static void hand_over(void) {
  static int begun;
  begun = 0;
#pragma omp task
  {
#pragma omp atomic write
    begun = 1;
    work();
  }
  while (!taken(&begun)) sched_yield();
#pragma omp taskwait
}

// The first thread hands over a task in the region, and then one of a task that it executes at the region's end.
static void nested(void) {
  static int begun;
  begun = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) hand_over();
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
#pragma omp task
      {
#pragma omp atomic write
        begun = 1;
        hand_over();
      }
      while (!taken(&begun)) sched_yield();
    }
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "barrier";
  const int is_nested = strcmp(how, "nested") == 0;
  const int tasks = strcmp(how, "one") == 0 ? 1 : is_nested ? 2 : kTasks;
  if (is_nested) omp_set_max_active_levels(2);
  for (int region = 0; region < kRegions; ++region) {
#pragma omp parallel
#pragma omp single
    {
      if (strcmp(how, "taskloop") == 0) {
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < tasks; ++i) work();
      } else if (strcmp(how, "tree") == 0) {
        tree(2);
      } else if (is_nested) {
        nested();
      } else {
        for (int i = 0; i < tasks; ++i) {
#pragma omp task
          work();
        }
        if (strcmp(how, "taskwait") == 0) {
#pragma omp taskwait
        }
      }
    }
  }
  printf("%lld %lld\n", spent, executed);
  return executed != kRegions * tasks;
}
