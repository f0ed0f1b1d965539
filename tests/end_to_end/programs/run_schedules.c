/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule(runtime) under each way to say what that is: a thread that requests static parts has them, the same in each
 * loop of a region, and reads back what it has set. Prints "as asked". */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define COUNT 1000
static int by[2][COUNT], wrong;

static void expect(int holds, const char* what) {
  if (holds || wrong) return;
  printf("not so: %s\n", what);
  wrong = 1;
}

static void expect_schedule(omp_sched_t kind, int chunk) {
  omp_sched_t kind_now;
  int chunk_now;
  omp_get_schedule(&kind_now, &chunk_now);
  expect(kind_now == kind && (chunk == 0 || chunk_now == chunk), "what was set is read");
}

static void work(int i) { /* all of it is in the first thread's part */
  for (volatile int n = i < COUNT / 2 ? 2000 : 0; n > 0; --n) {
  }
}

static void in_static_parts(void) {
#pragma omp parallel num_threads(2)
  {
    /* No barrier between them: the second relies on it that each thread has had the same iterations of the first. */
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < COUNT; ++i) {
      by[0][i] = omp_get_thread_num() + 1;
      work(i);
    }
#pragma omp for schedule(runtime)
    for (int i = 0; i < COUNT; ++i) {
      expect(by[0][i] == omp_get_thread_num() + 1, "the same thread in both loops");
      by[1][i] = i < COUNT / 2 ? 1 : 2;
    }
  }
  for (int i = 0; i < COUNT; ++i) expect(by[0][i] == by[1][i], "halves");
}

/* One of them says of its own task what is so for all: Steelyard must not take that for a schedule that the others
 * do not have. */
static void said_by_one(void) {
  static int runs[COUNT];
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
      {
        omp_sched_t kind;
        int chunk;
        omp_get_schedule(&kind, &chunk);
        omp_set_schedule(kind, chunk);
      }
#pragma omp barrier
#pragma omp for schedule(runtime)
      for (int i = 0; i < COUNT; ++i) {
#pragma omp atomic
        ++runs[i];
        work(i);
      }
    }
  }
  for (int i = 0; i < COUNT; ++i) expect(runs[i] == 20, "each once a round");
}

/* Each loop is what was set last before it, whatever the loops before it were. (LLVM's runtime by itself gives all
 * loops of a region what was set before that.) */
static void first_dynamic(void) {
  static int mine[COUNT];
#pragma omp parallel num_threads(2)
  {
    omp_set_schedule(omp_sched_dynamic, 1);
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < COUNT; ++i) work(i);
    omp_set_schedule(omp_sched_static, 0);
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < COUNT; ++i) {
      mine[i] = omp_get_thread_num() + 1;
      work(i);
    }
#pragma omp for schedule(runtime)
    for (int i = 0; i < COUNT; ++i)
      expect(mine[i] == omp_get_thread_num() + 1, "the same thread, after a dynamic loop");
  }
}

static void first_static(void) {
#pragma omp parallel num_threads(2)
  {
    omp_set_schedule(omp_sched_static, 0);
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < COUNT; ++i) work(i);
    omp_set_schedule(omp_sched_dynamic, 1);
#pragma omp for schedule(runtime)
    for (int i = 0; i < COUNT; ++i) work(i);
  }
}

/* No thread waits between them: threads are some loops apart. */
static void by_turns(void) {
  enum { LOOPS = 300 };
  static int runs[COUNT], mine[COUNT];
#pragma omp parallel num_threads(2)
  for (int loop = 0; loop < LOOPS; ++loop) {
    const int is_static = loop % 3 != 0;
    omp_set_schedule(is_static ? omp_sched_static : omp_sched_dynamic, is_static ? 0 : 1 + loop % 5);
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < COUNT; ++i) {
#pragma omp atomic
      ++runs[i];
      if (loop % 3 == 1) mine[i] = omp_get_thread_num() + 1;
      if (loop % 3 == 2) expect(mine[i] == omp_get_thread_num() + 1, "the same thread, by turns");
      if (i % 100 == 0) work(i);
    }
  }
  for (int i = 0; i < COUNT; ++i) {
    expect(runs[i] == LOOPS, "each once a loop");
    runs[i] = 0;
  }
}

/* Static chunks, up and down, signed and not; and chunks in ascending order. */
static void in_rows(void) {
#pragma omp parallel num_threads(2)
  {
    omp_set_schedule(omp_sched_static, 3);
    const int me = omp_get_thread_num();
#pragma omp for schedule(runtime)
    for (int i = 0; i < COUNT; ++i) {
      expect(i / 3 % 2 == me, "chunks in turns");
      work(i);
    }
#pragma omp for schedule(runtime)
    for (long i = COUNT - 1; i >= 0; --i) {
      expect((COUNT - 1 - i) / 3 % 2 == me, "chunks in turns, down");
      work((int)i);
    }
#pragma omp for schedule(runtime)
    for (unsigned long i = 7; i < COUNT; i += 2) {
      expect((i - 7) / 2 / 3 % 2 == (unsigned long)me, "chunks in turns, unsigned");
      work((int)i);
    }
#pragma omp for schedule(runtime)
    for (int i = 5; i < 5; ++i) work(i);
    omp_set_schedule((omp_sched_t)(omp_sched_dynamic | omp_sched_monotonic), 5);
    int last = -1;
#pragma omp for schedule(runtime)
    for (int i = 0; i < COUNT; ++i) {
      expect(i > last, "in ascending order");
      expect(i % 5 == 0 || i == last + 1, "chunks of 5");
      last = i;
      work(i);
    }
  }
}

/* A region's loop, outside of any region: the team is one thread. */
static void outside_of_regions(void) {
  static int runs[COUNT];
#pragma omp for schedule(runtime)
  for (int i = 0; i < COUNT; ++i) ++runs[i];
  for (int i = 0; i < COUNT; ++i) expect(runs[i] == 1, "each once outside of regions");
  memset(runs, 0, sizeof runs);
}

int main(void) {
  omp_set_max_active_levels(1); /* from here on there is an OpenMP runtime, under gcc, too */
#pragma omp parallel for num_threads(2) schedule(runtime)
  for (int i = 0; i < COUNT; ++i) work(i);
  said_by_one();
  outside_of_regions();

  omp_set_schedule(omp_sched_static, 0);
  outside_of_regions();
  expect_schedule(omp_sched_static, 0);
  in_static_parts();

  omp_set_schedule(omp_sched_dynamic, 4);
  expect_schedule(omp_sched_dynamic, 4);
#pragma omp parallel for num_threads(2) schedule(runtime)
  for (int i = 0; i < COUNT; ++i) work(i);

#pragma omp parallel num_threads(2)
  {
    omp_set_schedule(omp_sched_static, 0);
#pragma omp for schedule(runtime)
    for (int i = 0; i < COUNT; ++i) work(i);
  }
  expect_schedule(omp_sched_dynamic, 4); /* each task has its own */
  for (int outside = 0; outside < 2; ++outside) {
    omp_set_schedule(outside == 0 ? omp_sched_static : omp_sched_dynamic, 0);
    first_dynamic();
    first_static();
    by_turns();
    in_rows();
  }

  omp_set_schedule(omp_sched_guided, 7);
  expect_schedule(omp_sched_guided, 7);
  puts(wrong ? "WRONG" : "as asked");
  return wrong;
}
