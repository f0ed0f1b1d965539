/* SPDX-License-Identifier: BSD-3-Clause */
/* As unsafe.c, with jumps through tables: a table that is indexed by what depends on the team, or a way that only a
 * table leads to. */
#include <math.h>
#include <omp.h>

__attribute__((noipa)) void work(long);
volatile long worked;
void work(long i) { worked = i; }
double sums[64];
static const int kinds[16] = {3, 1, 4, 1, 5, 2, 0, 2, 3, 5, 3, 0, 1, 4, 2, 5};

/* Each way does something else that is right in a team of any size. */
#define SWITCH(a, i, kind)                   \
  switch (kind) {                            \
    case 0: (a)[i] = exp((a)[i]); break;     \
    case 1: (a)[i] = sin((a)[i]); break;     \
    case 2: (a)[i] = cos((a)[i]) + 1; break; \
    case 3: (a)[i] = log((a)[i]); break;     \
    case 4: work(5); break;                  \
    case 5: (a)[i] += 1; break;              \
    default: (a)[i] = 0;                     \
  }

void unsafe_on_id(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
    SWITCH(a, 5, omp_get_thread_num());
  }
}
void unsafe_on_id_in_loop(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) SWITCH(a, i, omp_get_thread_num());
}
void unsafe_on_id_without_default(double* a) {
#pragma omp parallel
  switch (omp_get_thread_num() & 7) {
    case 0: a[0] = exp(a[1]); break;
    case 1: a[1] = sin(a[5]); break;
    case 2: a[2] = cos(a[3]); break;
    case 3: a[3] = log(a[2]); break;
    case 4: a[4] = sin(a[6]); break;
    case 5: a[5] = sin(a[0]); break;
    case 6: a[6] = exp(a[4]); break;
    case 7: a[7] = sin(a[3]); break;
  }
}
void unsafe_on_count(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) SWITCH(a, i, omp_get_num_threads());
}
void unsafe_on_kind_of_id(double* a, int n) {
#pragma omp parallel
  {
    const int kind = kinds[omp_get_thread_num() & 15];
#pragma omp for
    for (int i = 0; i < n; ++i) SWITCH(a, i, kind);
  }
}
#define ON_PART(part)                                                       \
  void unsafe_on_##part(double* a, int n) {                                 \
    _Pragma("omp parallel") {                                               \
      const int threads = omp_get_num_threads(), id = omp_get_thread_num(); \
      int share = n / threads, before = n % threads;                        \
      if (id < before) {                                                    \
        ++share;                                                            \
        before = 0;                                                         \
      }                                                                     \
      const int first = share * id + before;                                \
      for (int i = first; i < first + share; ++i) a[i] *= 2;                \
      SWITCH(a, 5, part);                                                   \
    }                                                                       \
  }
ON_PART(share)
ON_PART(before)
void unsafe_on_rest(double* a, int n) {
#pragma omp parallel
  SWITCH(a, 5, n % omp_get_num_threads());
}
#define WAYS_TO(which, number)                                  \
  void unsafe_way_##which(double* a, const int* all, int n) {   \
    _Pragma("omp parallel for") for (int i = 0; i < n; ++i) {   \
      switch (all[i]) {                                         \
        case 0: a[i] = exp(a[i]); break;                        \
        case 1: a[i] = sin(a[i]); break;                        \
        case 2: a[i] = cos(a[i]); break;                        \
        case 3: a[i] = log(a[i]); break;                        \
        case 4: a[i] = tan(a[i]); break;                        \
        case 5: a[i] += 5; break;                               \
        case 6: work(i); break;                                 \
        case 7: a[i] *= 5; break;                               \
        case number: sums[omp_get_thread_num()] += a[i]; break; \
      }                                                         \
    }                                                           \
  }
WAYS_TO(below_all, -1)
WAYS_TO(above_all, 8)
/* One table leads to another. */
void unsafe_way_behind_two_tables(double* a, const int* all, const int* others, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    switch (all[i]) {
      case 0: a[i] = exp(a[i]); break;
      case 1: a[i] = sin(a[i]); break;
      case 2: a[i] = cos(a[i]); break;
      case 3: a[i] = log(a[i]); break;
      case 4: a[i] = tan(a[i]); break;
      case 5:
        switch (others[i]) {
          case 0: a[i] = 1 + exp(a[i]); break;
          case 1: a[i] = 2 + sin(a[i]); break;
          case 2: a[i] = 3 + cos(a[i]); break;
          case 3: sums[omp_get_thread_num()] += a[i]; break;
          case 4: a[i] = 4 + tan(a[i]); break;
          case 5: a[i] = 5 + log(a[i]); break;
        }
    }
  }
}
/* gcc leaves out the comparison, and may shift the table instead of the index. */
void unsafe_way_without_comparison(double* a, const long* all, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    switch (all[i]) {
      case 10: a[i] = exp(a[i]); break;
      case 11: a[i] = sin(a[i]); break;
      case 12: a[i] = cos(a[i]); break;
      case 13: a[i] = log(a[i]); break;
      case 14: a[i] = tan(a[i]); break;
      case 15: sums[omp_get_thread_num()] += a[i]; break;
      default: __builtin_unreachable();
    }
  }
}
void unsafe_way_of_a_mask(double* a, const int* all, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    switch (all[i] & 7) {
      case 0: a[i] = exp(a[i]); break;
      case 1: a[i] = sin(a[i]); break;
      case 2: a[i] = cos(a[i]); break;
      case 3: a[i] = log(a[i]); break;
      case 4: a[i] = tan(a[i]); break;
      case 5: a[i] += 5; break;
      case 6: a[i] -= 7; break;
      case 7: sums[omp_get_thread_num()] += a[i]; break;
    }
  }
}
/* The comparison that is nearest to the jump is not the one of its index. */
void unsafe_way_behind_another_comparison(double* a, const int* all, const unsigned* others, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const unsigned kind = (unsigned)all[i];
    if (kind > 9) continue;
    if (others[i] > 2) continue;
    switch (kind) {
      case 0: a[i] = exp(a[i]); break;
      case 1: a[i] = sin(a[i]); break;
      case 2: a[i] = cos(a[i]); break;
      case 3: a[i] = log(a[i]); break;
      case 4: a[i] = tan(a[i]); break;
      case 5: a[i] += 5; break;
      case 6: a[i] -= 7; break;
      case 7: a[i] *= 9; break;
      case 8: work(i); break;
      case 9: sums[omp_get_thread_num()] += a[i]; break;
    }
  }
}
/* A table of the program's own. */
void unsafe_table_of_labels(double* a, const int* all, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    static void* const labels[] = {&&plus, &&minus, &&times, &&other, &&none};
    if ((unsigned)all[i] > 4) continue;
    goto* labels[all[i]];
  plus:
    a[i] += 5;
    continue;
  minus:
    a[i] -= 5;
    continue;
  times:
    a[i] *= 5;
    continue;
  other:
    sums[omp_get_thread_num()] += a[i];
    continue;
  none:
    a[i] = 0;
  }
}
void unsafe_label_of_id(double* a) {
#pragma omp parallel
  {
    static void* const labels[] = {&&plus, &&minus, &&times, &&none};
    goto* labels[omp_get_thread_num() & 3];
  plus:
    a[0] += 5;
  minus:
    a[1] -= 5;
  times:
    a[2] *= 5;
  none:
    a[3] = 0;
  }
}
/* What some threads alone choose by a table. */
void unsafe_of_thread_0(double* a, int n, int kind) {
#pragma omp parallel
  {
    int by = 1;
    if (omp_get_thread_num() == 0) {
      switch (kind) {
        case 0: by = 7; break;
        case 1: by = n; break;
        case 2: work(3), by = 5; break;
        case 3: work(4), by = 3; break;
        case 4: work(5); break;
        case 5: work(7), by = 2; break;
      }
    }
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= by;
  }
}
void unsafe_of_other_threads(double* a, int n, int kind) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
    if (omp_get_thread_num() != 0) SWITCH(a, 5, kind);
  }
}
/* How often a loop runs around a table. */
void unsafe_rounds(double* a, int n, const int* all) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
    for (int i = 0; i < omp_get_num_threads(); ++i) SWITCH(a, 5, all[i]);
  }
}
int main(void) { return 0; }
