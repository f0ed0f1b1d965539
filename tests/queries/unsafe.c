/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that another number of threads would break: in each, some use of a query depends on it. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) void work(long);
volatile long worked;
void work(long i) { worked = i; }
__attribute__((noipa)) int helper(int);
int helper(int i) {
  __asm__ volatile("" : "+r"(i) : : "memory");
  return i;
}
int threads_once, first_of[64], saved;
double sums[64];

void unsafe_array_by_id(double* per_thread, const double* a, int n) {
#pragma omp parallel
  {
    double sum = 0;
#pragma omp for
    for (int i = 0; i < n; ++i) sum += a[i];
    per_thread[omp_get_thread_num()] = sum;
  }
}
void unsafe_array_by_id_first(double* per_thread, const double* a, int n) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    per_thread[id] = 0;
#pragma omp for
    for (int i = 0; i < n; ++i) per_thread[id] += a[i];
  }
}
void unsafe_remembered_count(double* a, int n) {
  const int each = n / threads_once;
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    for (int i = id * each; i < (id + 1) * each; ++i) a[i] *= 2;
  }
}
void unsafe_without_the_rest(double* a, int n) {
#pragma omp parallel
  {
    const int each = n / omp_get_num_threads(), id = omp_get_thread_num();
    for (int i = id * each; i < (id + 1) * each; ++i) a[i] *= 2;
  }
}
void unsafe_rest_to_others(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, before = n % threads;
    if (id <= before) {
      ++share;
      before = 0;
    }
    const int first = share * id + before;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void unsafe_two_counts(double* a, int n, int m) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, before = m % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    const int first = share * id + before;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void unsafe_shifted(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, before = n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    const int first = share * (id + 1) + before;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
/* Threads with one iteration more begin elsewhere than the others. */
void unsafe_shifted_by_two(double* a, int n, const volatile int* p, const volatile int* q) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num(), rest = n % threads;
    int share = n / threads, first;
    if (id < rest) {
      ++share;
      first = share * id + *p;
    } else {
      first = share * id + rest + *q;
    }
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void unsafe_passes_id(void) {
#pragma omp parallel
  work(omp_get_thread_num());
}
void unsafe_passes_count(void) {
#pragma omp parallel
  work(omp_get_num_threads());
}
void unsafe_passes_address_of_id(void) {
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    scanf("%d", &id);
  }
}
void unsafe_stores_count(void) {
#pragma omp parallel
  {
#pragma omp single
    saved = omp_get_num_threads();
  }
}
void unsafe_stores_id(int* where) {
#pragma omp parallel
  *where = omp_get_thread_num();
}
int unsafe_returns_id(void) { return omp_get_thread_num(); }
int unsafe_returns_less(void) { return omp_get_num_threads() - 1; }
void unsafe_workers(double* a, int n) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0)
      work(0);
    else
      for (int i = 0; i < n; ++i) {
#pragma omp atomic
        a[i] += 1;
      }
  }
}
void unsafe_last_thread(double* a) {
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) *a += 1;
}
void unsafe_fourth_thread(double* a) {
#pragma omp parallel
  if (omp_get_thread_num() == 3) *a += 1;
}
void unsafe_odd_threads(double* a) {
#pragma omp parallel
  if (omp_get_thread_num() % 2) {
#pragma omp atomic
    *a += 1;
  }
}
void unsafe_enough_threads(double* a) {
#pragma omp parallel
  if (omp_get_num_threads() >= 4) {
#pragma omp atomic
    *a += 1;
  }
}
void unsafe_table_of_functions(void (**table)(void)) {
#pragma omp parallel
  table[omp_get_thread_num()]();
}
void unsafe_switch(double* a) {
#pragma omp parallel
  switch (omp_get_thread_num()) {
    case 0: a[0] += 1; break;
    case 1: a[5] += 2; break;
    case 2: a[1] += 3; break;
    case 3: a[7] += 4; break;
    case 4: a[3] -= 5; break;
    default: a[9] += 6;
  }
}
void unsafe_own_stack(double* out, int n) {
  double local[8];
  double* all = local;
  __asm__ volatile("" : "+r"(all));
#pragma omp parallel
  {
    all[omp_get_thread_num()] = n;
#pragma omp barrier
#pragma omp single
    out[0] = all[1];
  }
}
void unsafe_array_after_loop(double* a, int n) {
#pragma omp parallel
  {
    double sum = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) sum += a[i];
    sums[omp_get_thread_num()] += sum;
  }
}
void unsafe_random(double* a, int n) {
#pragma omp parallel
  {
    unsigned state = (unsigned)omp_get_thread_num() * 77 + 1;
#pragma omp for
    for (int i = 0; i < n; ++i) {
      state = state * 1664525 + 1013904223;
      a[i] = state;
    }
  }
}
void unsafe_flag_of_master(void) {
#pragma omp parallel
  work(omp_get_thread_num() == 0);
}
void unsafe_tree(double* a) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    for (int width = 1; width < threads; width *= 2) {
      if (id % (2 * width) == 0 && id + width < threads) a[id] += a[id + width];
#pragma omp barrier
    }
  }
}
void unsafe_neighbour(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
    first_of[(omp_get_thread_num() + 1) % omp_get_num_threads()] = n;
  }
}
void unsafe_column(double* a, int rows, int columns) {
#pragma omp parallel
  {
    const int column = omp_get_thread_num();
    for (int i = 0; i < rows; ++i) a[i * columns + column] *= 2;
  }
}
void unsafe_through_helper(double* a) {
#pragma omp parallel
  a[helper(omp_get_thread_num())] = 1;
}
void unsafe_wide_id(char* a) {
#pragma omp parallel
  {
    const unsigned long id = (unsigned long)omp_get_thread_num() << 6;
    a[id] = 1;
  }
}
void unsafe_as_real(double* a) {
#pragma omp parallel
  {
    const double id = omp_get_thread_num();
#pragma omp atomic
    *a += id;
  }
}
void unsafe_until_count(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads();
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] /= threads;
  }
}
int main(void) { return 0; }
