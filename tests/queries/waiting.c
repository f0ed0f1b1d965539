/* Regions whose threads cannot run one after the other, though a team of any size is right for them: waits_*. Others that can, and
 * look alike: goes_on_*. */
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
int main(void) { return 0; }
