/* SPDX-License-Identifier: BSD-3-Clause */
// What GNU's OpenMP runtime can do and LLVM's cannot, and the entry points of compilers before gcc 4.9.
// Each case checks its own result. The last line is "ok" if all were right.
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// As a compiler of that time would call them.
void GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads);
void GOMP_parallel_loop_static_start(void (*)(void*), void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(void (*)(void*), void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(void (*)(void*), void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(void (*)(void*), void*, unsigned, long, long, long);
void GOMP_parallel_sections_start(void (*)(void*), void*, unsigned, unsigned);
void GOMP_parallel_end(void);
bool GOMP_loop_static_next(long*, long*);
bool GOMP_loop_dynamic_next(long*, long*);
bool GOMP_loop_guided_next(long*, long*);
bool GOMP_loop_runtime_next(long*, long*);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);

enum { kCount = 1000 };
static int g_wrong = 0;
static int g_counts[kCount];

static void expect(const char* what, bool right) {
  if (!right) {
    printf("wrong: %s\n", what);
    ++g_wrong;
  }
}

static void clear(void) {
  for (int i = 0; i < kCount; ++i) g_counts[i] = 0;
}

static bool each_once(void) {
  for (int i = 0; i < kCount; ++i) {
    if (g_counts[i] != 1) return false;
  }
  return true;
}

static void count(int i) {
#pragma omp atomic
  ++g_counts[i];
}

static void count_thread(void* team) {
  count(omp_get_thread_num());
#pragma omp atomic write
  *(int*)team = omp_get_num_threads();
}

static bool (*g_next)(long*, long*);
static void count_chunks(void* data) {
  (void)data;
  long first, last;
  while (g_next(&first, &last)) {
    for (long i = first; i < last; ++i) count((int)i);
  }
  GOMP_loop_end_nowait();
}

static void count_sections(void* data) {
  (void)data;
  for (unsigned section; (section = GOMP_sections_next()) != 0;) count((int)section - 1);
  GOMP_sections_end_nowait();
}

static void old_loop(const char* what, void (*start)(void (*)(void*), void*, unsigned, long, long, long, long),
                     bool (*next)(long*, long*)) {
  clear();
  g_next = next;
  start(count_chunks, NULL, 0, 0, kCount, 1, 7);
  count_chunks(NULL);
  GOMP_parallel_end();
  expect(what, each_once());
}

static void old_entry_points(void) {
  for (unsigned threads = 1; threads <= 4; ++threads) {
    clear();
    int team = 0;
    GOMP_parallel_start(count_thread, &team, threads);
    count_thread(&team);
    GOMP_parallel_end();
    int seen = 0;
    for (int i = 0; i < kCount; ++i) seen += g_counts[i];
    expect("GOMP_parallel_start", team == (int)threads && seen == team && g_counts[team - 1] == 1);
  }
  old_loop("GOMP_parallel_loop_static_start", GOMP_parallel_loop_static_start, GOMP_loop_static_next);
  old_loop("GOMP_parallel_loop_dynamic_start", GOMP_parallel_loop_dynamic_start, GOMP_loop_dynamic_next);
  old_loop("GOMP_parallel_loop_guided_start", GOMP_parallel_loop_guided_start, GOMP_loop_guided_next);
  clear();
  g_next = GOMP_loop_runtime_next;
  GOMP_parallel_loop_runtime_start(count_chunks, NULL, 0, 0, kCount, 1);
  count_chunks(NULL);
  GOMP_parallel_end();
  expect("GOMP_parallel_loop_runtime_start", each_once());
  clear();
  GOMP_parallel_sections_start(count_sections, NULL, 0, kCount);
  count_sections(NULL);
  GOMP_parallel_end();
  expect("GOMP_parallel_sections_start", each_once());
}

static void doacross(int threads, int rows) {
  enum { kColumns = 8 };
  long cells[64][kColumns] = {{0}};
#pragma omp parallel for num_threads(threads) ordered(2) schedule(static, 1)
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      cells[i][j] = 1 + (i > 0 ? cells[i - 1][j] : 0) + (j > 0 ? cells[i][j - 1] : 0);
#pragma omp ordered depend(source)
    }
  }
  long expected[64][kColumns];
  bool right = true;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      expected[i][j] = 1 + (i > 0 ? expected[i - 1][j] : 0) + (j > 0 ? expected[i][j - 1] : 0);
      right = right && cells[i][j] == expected[i][j];
    }
  }
  expect("doacross", right);
}

static void cancelled_loop(void) {
  int found = 0;
  for (int repetition = 0; repetition < 20; ++repetition) {
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < kCount; ++i) {
        if (i == 37) {
#pragma omp atomic
          ++found;
#pragma omp cancel for
        }
#pragma omp cancellation point for
      }
#pragma omp single
      clear();
#pragma omp for schedule(guided)
      for (int i = 0; i < kCount; ++i) count(i);
    }
    expect("a loop after a cancelled one", each_once());
  }
  expect("a cancelled loop", found == 20);
}

static void task_reduction(void) {
  long sum = 0;
#pragma omp parallel reduction(task, + : sum)
  {
#pragma omp single
    for (int i = 1; i <= 100; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
      sum += i;
    }
  }
  expect("a task reduction of a region", sum == 5050);
  sum = 0;
#pragma omp parallel
#pragma omp for reduction(task, + : sum) schedule(dynamic)
  for (int i = 1; i <= 100; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
    sum += i;
  }
  expect("a task reduction of a loop", sum == 5050);
}

static void scan(void) {
  static int x[kCount], prefix[kCount];
  int sum = 0;
  for (int i = 0; i < kCount; ++i) x[i] = i % 7;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < kCount; ++i) {
    sum += x[i];
#pragma omp scan inclusive(sum)
    prefix[i] = sum;
  }
  bool right = true;
  for (int i = 0, expected = 0; i < kCount; ++i) right = right && prefix[i] == (expected += x[i]);
  expect("scan", right);
}

// gcc puts a barrier between the begin of such a loop and its first chunk.
static void linear(void) {
  bool right = true;
  int x = 10;
#pragma omp parallel for schedule(dynamic) linear(x : 3) reduction(&& : right)
  for (int i = 0; i < kCount; ++i) {
    right = right && x == 10 + 3 * i;
    x += 3;
  }
  expect("linear", right && x == 10 + 3 * kCount);
}

static void detached_task(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
    {
      done = 1;
      omp_fulfill_event(event);
    }
#pragma omp taskwait
  }
  expect("a detached task", done == 1);
}

static void allocator(void) {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    int* memory = omp_alloc(sizeof(int), omp_default_mem_alloc);
    *memory = 2;
    sum += *memory;
    omp_free(memory, omp_default_mem_alloc);
  }
  int value = 5;
#pragma omp parallel num_threads(3) firstprivate(value) allocate(omp_default_mem_alloc : value) reduction(+ : sum)
  sum += value;
  expect("allocators", sum == 21);
}

static void host_teams(void) {
  clear();
#pragma omp teams num_teams(3) thread_limit(2)
#pragma omp distribute parallel for
  for (int i = 0; i < kCount; ++i) count(i);
  expect("teams", each_once());
}

int main(void) {
  old_entry_points();
  for (int threads = 1; threads <= 4; ++threads) {
    doacross(threads, 0);
    doacross(threads, 1);
    doacross(threads, 60);
  }
  if (omp_get_cancellation()) cancelled_loop();
  task_reduction();
  scan();
  linear();
  detached_task();
  allocator();
  host_teams();
  // What the program is told does not change.
  expect("omp_get_max_threads", omp_get_max_threads() == atoi(getenv("OMP_NUM_THREADS")));
  omp_set_schedule(omp_sched_guided, 5);
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  expect("omp_get_schedule", kind == omp_sched_guided && chunk == 5);
  puts(g_wrong == 0 ? "ok" : "failed");
  return g_wrong != 0;
}
