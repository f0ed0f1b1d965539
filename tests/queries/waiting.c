/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions whose threads cannot run one after the other, though a team of any size is right for them: waits_*. Others
 * that can, and look alike: goes_on_*. */
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT static __attribute__((noipa))

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread double mine;
double (*volatile through)(double) = sqrt;
int depth;

KEPT void meet(void) {
#pragma omp barrier
}
KEPT void meet_deeper(int n) {
  if (n > 0)
    meet_deeper(n - 1);
  else
    meet();
}
KEPT void once(int* count) {
#pragma omp single nowait
  ++*count;
}
KEPT double scaled(double x) { return 2 * x; }
KEPT double scaled_deeper(double x, int n) { return n > 0 ? scaled_deeper(x, n - 1) : scaled(x); }

void waits_barrier(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
#pragma omp for
    for (int i = 0; i < n; ++i) b[i] = a[n - 1 - i];
  }
}
void waits_barrier_now_and_then(double* a, int n, int often) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
    if (often == 7) {
#pragma omp barrier
    }
  }
}
void waits_in_a_callee(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
    meet();
  }
}
void waits_far_away(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
    meet_deeper(depth);
  }
}
void waits_single(double* a, int n, int* count) {
#pragma omp parallel
  {
#pragma omp single nowait
    ++*count;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
void waits_single_in_a_callee(double* a, int n, int* count) {
#pragma omp parallel
  {
    once(count);
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
void waits_dynamic(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < n; ++i) b[i] *= 2;
  }
}
void waits_sections(double* a, int n, int* count) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
#pragma omp sections nowait
    {
#pragma omp section
      ++count[0];
#pragma omp section
      ++count[1];
    }
  }
}
void waits_tasks(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp task
    a[i] = scaled(a[i]);
  }
}
__attribute__((noipa)) void goes_on_inside(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2;
}
void waits_nested(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) goes_on_inside(a + i * n, n);
}
void waits_ordered(double* a, int n) {
#pragma omp parallel for ordered
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    a[0] += a[i];
  }
}
void waits_cancel(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0) {
#pragma omp cancel for
    }
    a[i] *= 2;
  }
}
void waits_pointer(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = through(a[i]);
}
void waits_thread_local(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    mine += a[i];
    a[i] = mine;
  }
}
void waits_unknown(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    pthread_mutex_lock(&mutex);
    a[0] += a[i];
    pthread_mutex_unlock(&mutex);
  }
}
void waits_query(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
    a[n + omp_get_thread_num()] = 0;
  }
}

/* Waits that are made by hand. */
void waits_spin(double* a, int n, volatile int* count) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      a[i] *= 2;
#pragma omp atomic
      ++*count;
    }
    while (*count < n);
  }
}
void waits_and_counts(double* a, int n, int* count, long* rounds) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    long mine = 0;
    for (;;) {
      int now;
#pragma omp atomic read
      now = *count;
      if (now == n - 1 - i) break;
      ++mine;
    }
#pragma omp atomic
    *rounds += mine;
    a[i] *= 2;
  }
}
KEPT int is_ready(volatile int* count) { return *count != 0; }
void waits_for_a_function(double* a, int n, volatile int* count) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    if (i == n - 1) *count = 1;
    while (!is_ready(count));
    a[i] *= 2;
  }
}
void waits_neighbour(double* a, int n, volatile int* ready) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    ready[i] = 1;
    if (i + 1 < n) {
      while (ready[i + 1] == 0);
    }
    a[i] *= 2;
  }
}
void waits_rounding(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    unsigned state = 0x5f80;
    __asm__ volatile("ldmxcsr %0" : : "m"(state));
    a[i] /= 3;
  }
}
void waits_in_parallel(double* a, int n) {
#pragma omp parallel
  {
    if (omp_in_parallel()) {
#pragma omp for nowait
      for (int i = 0; i < n; ++i) a[i] *= 2;
    } else {
      for (int i = 0; i < n; ++i) a[i] *= 2;
    }
  }
}
void waits_master(double* a) {
#pragma omp parallel
  {
#pragma omp master
    a[0] *= 2;
#pragma omp atomic
    a[1] += 1;
  }
}

void goes_on_plain(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2;
}
void goes_on_sum(const double* a, int n, double* sum) {
  double all = 0;
#pragma omp parallel for reduction(+ : all)
  for (int i = 0; i < n; ++i) all += a[i];
  *sum = all;
}
void goes_on_critical(const double* a, int n, double* most) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    if (a[i] > *most) *most = a[i];
  }
}
void goes_on_callee(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = scaled_deeper(a[i], 3) + cbrt(a[i]);
}
void goes_on_memory(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double* const some = malloc(sizeof(double) * (size_t)n);
    memset(some, 0, sizeof(double) * (size_t)n);
    a[i] += some[i];
    free(some);
  }
}
/* Loops whose ways out depend on what they change. */
void goes_on_inner_loops(double* a, const int* next, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double x = a[i] > 1 ? a[i] : 1;
    while (x * x > 2) x = (x + 2 / x) / 2 - 1e-9;
    int last = i;
    while (next[last] >= 0) last = next[last];
    int first = 0;
    while (a[first] < x && first < n) ++first;
    long tries = 0;
    while (*(volatile const int*)next == 0 && ++tries < 100);
    a[i] = x + last + first;
  }
}
void goes_on_most(double* a, double* most, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double known;
#pragma omp atomic read
    known = *most;
    while (a[i] > known && !__atomic_compare_exchange((long*)most, (long*)&known, (long*)&a[i], 0, 5, 5));
#pragma omp atomic
    a[n] += a[i];
  }
}
int main(void) { return 0; }
