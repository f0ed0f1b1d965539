/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that are right in a team of any size: each of their queries is the compiler's, or asks for thread 0. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct part {
  double mass, place[3], speed[3];
} part_t;

__attribute__((noipa)) void work(long);
volatile long worked;
void work(long i) { worked = i; }

void safe_int(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2;
}
void safe_unsigned(double* a, unsigned n) {
#pragma omp parallel for schedule(static)
  for (unsigned i = 0; i < n; ++i) a[i] *= 2;
}
void safe_long(double* a, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) a[i] *= 2;
}
void safe_unsigned_long(double* a, unsigned long from, unsigned long n) {
#pragma omp parallel for
  for (unsigned long i = from; i <= n; i += 5) a[i] *= 2;
}
void safe_short(double* a, short n) {
#pragma omp parallel for
  for (short i = 0; i < n; ++i) a[i] *= 2;
}
void safe_pointer(double* a, long n) {
#pragma omp parallel for
  for (double* p = a; p < a + n; ++p) *p *= 2;
}
void safe_constant(double* a) {
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) a[i] *= 2;
}
void safe_down(double* a, int n) {
#pragma omp parallel for
  for (int i = n; i > 3; i -= 3) a[i] *= 2;
}
void safe_stride_of_a_variable(double* a, int n, int stride) {
#pragma omp parallel for
  for (int i = 1; i < n; i += stride) a[i] *= 2;
}
void safe_collapsed(double* a, int n, int m) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) a[i * m + j] *= 2;
}
void safe_collapsed_3(double* a, long n, long m, long k) {
#pragma omp parallel for collapse(3)
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < m; ++j)
      for (long l = 0; l < k; ++l) a[(i * m + j) * k + l] += (double)l;
}
double safe_sum(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += a[i];
  return sum;
}
double safe_several_reductions(const double* a, long n) {
  double sum = 0, most = 0;
  long count = 0;
#pragma omp parallel for reduction(+ : sum, count) reduction(max : most)
  for (long i = 0; i < n; ++i) {
    sum += a[i];
    if (a[i] > most) most = a[i];
    if (a[i] > 1) ++count;
  }
  return sum + most + (double)count;
}
int safe_last(const double* a, int n) {
  int last = 0;
#pragma omp parallel for lastprivate(last)
  for (int i = 0; i < n; ++i) last = (int)a[i];
  return last;
}
void safe_private(double* a, double b, int n) {
  double scale = b;
#pragma omp parallel for firstprivate(scale)
  for (int i = 0; i < n; ++i) {
    scale *= 1.0000001;
    a[i] *= scale;
  }
}
void safe_two_loops(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
#pragma omp for
    for (int i = 1; i < n; ++i) b[i] += a[i - 1];
  }
}
void safe_two_loops_nowait(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] *= 2;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) b[i] += a[i];
  }
}
void safe_steps(double* a, double* b, int n, int steps) {
#pragma omp parallel
  for (int step = 0; step < steps; ++step) {
#pragma omp for
    for (int i = 1; i < n - 1; ++i) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
#pragma omp for
    for (int i = 1; i < n - 1; ++i) a[i] = b[i];
  }
}
void safe_master(double* a, int n, int* count) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
#pragma omp master
    {
      printf("half\n");
      ++*count;
    }
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
void safe_single(double* a, int n, int* count) {
#pragma omp parallel
  {
#pragma omp single
    ++*count;
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= *count;
  }
}
void safe_critical(const double* a, int n, double* most) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    if (a[i] > *most) {
#pragma omp critical
      if (a[i] > *most) *most = a[i];
    }
  }
}
void safe_atomic(const int* a, int n, long* histogram) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    ++histogram[a[i]];
  }
}
void safe_orphaned(double* a, int n) {
#pragma omp for
  for (int i = 0; i < n; ++i) a[i] *= 2;
}
void safe_calls(long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) work(i);
}
void safe_mathematics(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = exp(sin(a[i])) + pow(a[i], 1.5);
}
void safe_structures(part_t* parts, int n, double dt) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) parts[i].place[d] += dt * parts[i].speed[d];
}
void safe_local_arrays(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double local[16];
    for (int k = 0; k < 16; ++k) local[k] = a[i] * k;
    double sum = 0;
    for (int k = 0; k < 16; ++k) sum += local[(k * 7) % 16];
    a[i] = sum;
  }
}
void safe_early_out(double* a, const int* flags, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    if (flags[i] == 0) continue;
    if (flags[i] == 1)
      a[i] = 1;
    else if (flags[i] < 0)
      a[i] = sqrt(-flags[i]);
    else
      a[i] /= flags[i];
  }
}
void safe_matrix(double* restrict c, const double* restrict a, const double* restrict b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const double x = a[i * n + k];
      for (int j = 0; j < n; ++j) c[i * n + j] += x * b[k * n + j];
    }
}
void safe_sparse(double* y, const double* values, const int* columns, const int* rows, const double* x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = rows[i]; k < rows[i + 1]; ++k) sum += values[k] * x[columns[k]];
    y[i] = sum;
  }
}
void safe_copy(double* a, const double* b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = b[i];
}
void safe_zero(double* a, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) a[i] = 0;
}
void safe_many_arguments(double* a, double* b, double* c, double* d, double* e, double* f, double* g, long n, double x,
                         double y) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    a[i] += x * b[i] + y * c[i];
    d[i] += x * e[i] + y * f[i];
    g[i] = a[i] * d[i];
  }
}
void safe_by_hand(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, before = n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    const int first = share * id + before;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
/* gcc executes as many iterations of the inner loop at once as are left of it, or of the thread's share. */
void safe_collapsed_simd(double* a, const double* b, int n, int m) {
#pragma omp parallel for simd collapse(2)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) a[i * m + j] = 2 * b[i * m + j];
}
/* gcc duplicates the division's last part: each copy has its own jump into the loop (CoMD's ljForce). */
double safe_unless_it_ends(const double* place, int cells, const int* particles, int** neighbours, double most) {
  double energy = 0;
#pragma omp parallel for reduction(+ : energy)
  for (int i = 0; i < cells; ++i)
    for (int n = 0; n < 27; ++n) {
      const int other = neighbours[i][n];
      if (other < 0) abort();
      for (int k = 64 * i; k < 64 * i + particles[i]; ++k)
        for (int l = 64 * other; l < 64 * other + particles[other]; ++l) {
          const double d = place[k] - place[l];
          if (d * d <= most && d * d > 0) energy += 1 / (d * d);
        }
    }
  return energy;
}
/* gcc divides once for several loops with as many iterations (LU-MZ's rhs). */
void safe_loops_of_one_length(double* restrict a, double* restrict b, const double* restrict c, int n, int m) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) a[i * m + j] = 2 * c[i * m + j];
#pragma omp for
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) b[i * m + j] = a[i * m + j] + c[i * m + j];
#pragma omp for
    for (int i = 0; i < n; ++i)
      for (int j = 1; j < m; ++j) a[i * m + j] += b[i * m + j - 1];
  }
}
/* The copy of the division's last part jumps to the loop behind a conditional jump (CloverLeaf's PdV). */
void safe_one_loop_or_the_other(double* restrict a, const double* restrict b, const double* restrict c, int from,
                                int to, int columns, int predict) {
#pragma omp parallel
  {
    if (predict) {
#pragma omp for
      for (int i = from; i <= to; ++i)
        for (int j = from; j <= columns; ++j) a[i * columns + j] = b[i * columns + j] / c[i * columns + j + 1];
    } else {
#pragma omp for
      for (int i = from; i <= to; ++i)
        for (int j = from; j <= columns; ++j)
          a[i * columns + j] = b[i * columns + j] * c[i * columns + j] + b[(i + 1) * columns + j];
    }
  }
}
/* Quotient, remainder and thread ID are kept on the stack, over a call with arguments on the stack (TeaLeaf's
 * preconditioner). */
__attribute__((noipa)) long works(long, long, long, long, long, long, long, long, long);
long works(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  worked = a + b + c + d + e + f + g + h + i;
  return worked;
}
void safe_kept_over_a_call(double* restrict a, double* restrict b, const int* n, const double* x, long p, long q,
                           long r) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < *n; ++i) a[i] = 2 * x[i] + (double)works(p, q, r, p, q, r, p, q, r);
#pragma omp for
    for (int i = 0; i < *n; ++i) b[i] = a[i] + x[i] * (double)p + (double)works(p, q, r, p, q, r, p, q, i);
  }
}
/* A product is written where the division before it has left a remainder, which it does not read. */
long remainders;
int steps;
void safe_remainder_by_a_constant(long n) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += (i * 104729 + steps) % 1000003;
  remainders = sum;
}
/* Jumps through tables: in a loop, around loops, one inside another, on an iteration's index. */
void safe_switch(double* a, const int* kinds, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    switch (kinds[i]) {
      case 3: a[i] *= 2; break;
      case 4: a[i] = sqrt(a[i]); break;
      case 5: a[i] = exp(a[i]); break;
      case 6: a[i] -= 1; break;
      case 7: a[i] = sin(a[i]);  // fallthrough
      case 8: a[i] += 5; break;
      default: a[i] = 0;
    }
  }
}
void safe_switch_on_letters(double* a, const char* letters, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    switch (letters[i]) {
      case 'a': a[i] *= 2; break;
      case 'b': a[i] = cos(a[i]); break;
      case 'c': a[i] = exp(a[i]); break;
      case 'd': continue;
      case 'e': a[i] = sin(a[i]); break;
      case 'h': work(i); break;
    }
    a[i] += 1;
  }
}
void safe_switch_around_loops(double* a, int n, int kind) {
#pragma omp parallel
  switch (kind) {
    case 3:
#pragma omp for
      for (int i = 0; i < n; ++i) a[i] *= 2;
      break;
    case 4:
#pragma omp for
      for (int i = 0; i < n; ++i) a[i] = sqrt(a[i]);
      break;
    case 5: worked = 5; break;
    case 6: a[7] = 7; break;
    case 7: a[n - 1] = 9; break;
    default:
#pragma omp for
      for (int i = 0; i < n; ++i) a[i] -= 1;
  }
}
void safe_switch_in_a_switch(double* a, const int* kinds, const int* others, int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) {
      switch (kinds[i]) {
        case 0: a[i] = exp(a[i]); break;
        case 1: a[i] = log(a[i]); break;
        case 2: a[i] = sin(a[i]); break;
        case 3: a[i] = cos(a[i]); break;
        case 4:
          switch (others[i]) {
            case 1: a[i] = tan(a[i]); break;
            case 2: a[i] = cos(a[i]) + 1; break;
            case 3: a[i] = sin(a[i]) + 2; break;
            case 4: a[i] = exp(a[i]) + 3; break;
            case 5: a[i] = log(a[i]) + 4; break;
            case 6: exit(1);
          }
          break;
        case 5: a[i] = sqrt(a[i]); break;
        default: abort();
      }
    }
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
void safe_switch_on_index(double* a, unsigned n) {
#pragma omp parallel for
  for (unsigned i = 0; i < n; ++i) {
    switch (i % 8) {
      case 0: a[i] = exp(a[i]); break;
      case 1: a[i] = log(a[i]); break;
      case 2: a[i] = sin(a[i]); break;
      case 3: a[i] = cos(a[i]); break;
      case 4: a[i] = tan(a[i]); break;
      case 5: a[i] += 4; break;
      case 6: work(i); break;
      case 7: a[i] *= a[i];
    }
  }
}
int main(void) { return 0; }
