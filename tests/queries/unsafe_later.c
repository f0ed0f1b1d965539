/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that another number of threads would break: a part of a division is used after its loop. */
#include <omp.h>

__attribute__((noipa)) void work(long);
volatile long worked;
void work(long i) { worked = i; }
long count;

typedef struct part {
  int quotient, remainder, id;
} part_t;
static inline part_t divided(int n) {
  return (part_t){n / omp_get_num_threads(), n % omp_get_num_threads(), omp_get_thread_num()};
}
static inline void doubled(double* a, part_t part) {
  int share = part.quotient, before = part.remainder;
  if (part.id < before) {
    ++share;
    before = 0;
  }
  const int first = share * part.id + before;
  for (int i = first; i < first + share; ++i) a[i] *= 2;
}
void unsafe_loop_of_mixed_divisions(double* a, double* b, int n, int m) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    part_t other = divided(m);
    doubled(a, part);
#pragma omp barrier
    other.remainder = part.remainder;
    doubled(b, other);
  }
}
void unsafe_loop_without_the_rest(double* a, double* b, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    doubled(a, part);
#pragma omp barrier
    for (int i = part.quotient * part.id; i < part.quotient * (part.id + 1); ++i) b[i] *= 2;
  }
}
void unsafe_loop_with_another_rest(double* a, double* b, int n) {
#pragma omp parallel
  {
    part_t part = divided(n);
    doubled(a, part);
#pragma omp barrier
    part.remainder += 1;
    doubled(b, part);
  }
}
void unsafe_loop_with_twice_the_quotient(double* a, double* b, int n) {
#pragma omp parallel
  {
    part_t part = divided(n);
    doubled(a, part);
#pragma omp barrier
    part.quotient *= 2;
    doubled(b, part);
  }
}
void unsafe_remainder_as_an_address(double* a, double* b, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    doubled(a, part);
#pragma omp barrier
    b[part.remainder] = 1;
  }
}
void unsafe_quotient_after_a_loop(double* a, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    doubled(a, part);
    work(part.quotient);
  }
}
void unsafe_effects_after_a_loop(double* a, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    doubled(a, part);
    if (part.id < part.remainder) {
#pragma omp atomic
      ++count;
    }
  }
}
void unsafe_share_of_one_kept_for_all(double* a, double* b, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    int share = part.quotient, before = part.remainder;
    if (part.id < before) {
      ++share;
      before = 0;
    }
    int first = share * part.id + before;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
#pragma omp barrier
    first = share * part.id + part.remainder;
    for (int i = first; i < first + share; ++i) b[i] *= 2;
  }
}
/* What some threads with one iteration more have taken off their share, others have not. */
#define KEEP(x) __asm__ volatile("" : "+r"(x)) /* gcc does not compute it again in another way */
void unsafe_quotient_of_some_threads(double* a, double* b, int n, const int* kind) {
#pragma omp parallel
  {
    part_t part = divided(n);
    int share = part.quotient, before = part.remainder, kept;
    const int rest = part.remainder, choice = kind[0];
    if (part.id < before) {
      ++share;
      before = 0;
      KEEP(share);
      KEEP(before);
      if (choice) {
        kept = share - 1;
        KEEP(kept);
        goto next;
      }
    }
    KEEP(share);
    kept = share;
    KEEP(kept);
  next:;
    const int first = share * part.id + before;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
#pragma omp barrier
    part.quotient = kept;
    part.remainder = rest;
    doubled(b, part);
  }
}
/* As many iterations as either division has, but each of the two decides about a part. */
void unsafe_division_of_thread_0(double* a, int n, const int* m) {
#pragma omp parallel
  {
    part_t part = divided(n);
    doubled(a, part);
    if (part.id == 0) {
      part.quotient = *m / omp_get_num_threads();
      part.remainder = *m % omp_get_num_threads();
    }
    doubled(a + n, part);
  }
}
/* One jump continues in the loop, the other behind its first iteration. */
void unsafe_jumps_to_two_places(double* a, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    int share = part.quotient, i, end;
    if (part.id < part.remainder) {
      ++share;
      i = share * part.id;
      end = i + share;
      if (i >= end) goto out;
      goto body;
    }
    i = share * part.id + part.remainder;
    end = i + share;
    if (i >= end) goto out;
    goto next;
  body:
    a[i] *= 2;
  next:
    if (++i < end) goto body;
  out:;
  }
}
/* Either of two divisions. */
void unsafe_parts_of_either_division(double* a, const int* n, const int* m, const int* kind) {
#pragma omp parallel
  {
    const part_t one = divided(*n), other = divided(*m);
    part_t part = one;
    if (kind[0]) part.quotient = other.quotient;
    worked = 1;
    if (kind[1]) part.remainder = other.remainder;
    doubled(a, part);
  }
}
void unsafe_remainder_of_the_other_division(double* a, const int* n, const int* m, const int* kind) {
#pragma omp parallel
  {
    const part_t one = divided(*n), other = divided(*m);
    part_t part = one;
    int rest = other.remainder;
    if (kind[0]) {
      worked = 1;
      part = other;
      rest = one.remainder;
    }
    part.remainder = rest;
    doubled(a, part);
  }
}
void unsafe_division_of_an_earlier_round(double* a, const int* n, const int* kind, int rounds) {
#pragma omp parallel
  {
    part_t part = divided(*n), last = part;
    for (int round = 0; round < rounds; ++round) {
      part = kind[round] ? divided(n[2 * round + 1]) : divided(n[2 * round + 2]);
      worked = 1;
      last.quotient = part.quotient;
      doubled(a, last);
      last = part;
    }
  }
}
void unsafe_quotient_of_either_division(double* a, const int* n, const int* m, const int* kind) {
#pragma omp parallel
  {
    part_t part;
    if (*kind) {
      part = divided(*n);
      doubled(a, part);
    } else {
      part = divided(*m);
      doubled(a + 1, part);
    }
    for (int i = part.quotient * part.id; i < part.quotient * (part.id + 1); ++i) a[i] *= 2;
  }
}
/* Vector instructions between a comparison and its use: these write a mask register and leave the flags alone. */
void unsafe_flags_kept_over_a_vector_test(void) {
#pragma omp parallel
  {
    unsigned char x;
    __asm__("cmpl $3, %1\n\tvptestmd %%zmm0, %%zmm0, %%k1\n\tsetl %0" : "=q"(x) : "r"(omp_get_thread_num()));
#pragma omp atomic
    count += x;
  }
}
void unsafe_flags_kept_over_its_negation(void) {
#pragma omp parallel
  {
    unsigned char x;
    __asm__("cmpl $3, %1\n\tvptestnmb %%ymm0, %%ymm0, %%k1\n\tsetl %0" : "=q"(x) : "r"(omp_get_thread_num()));
#pragma omp atomic
    count += x;
  }
}
void unsafe_mask_of_thread_0(void) {
#pragma omp parallel
  {
    int x;
    if (omp_get_thread_num() == 0) __asm__ volatile("vptestmd %zmm0, %zmm0, %k1");
    __asm__ volatile("kmovw %%k1, %0" : "=r"(x));
#pragma omp atomic
    count += x;
  }
}
/* Arguments on the stack, below words that are kept there over the call. */
__attribute__((noipa)) long eighth_of(long, long, long, long, long, long, long, long);
long eighth_of(long a, long b, long c, long d, long e, long f, long g, long h) {
  count += a + b + c + d + e + f + g;
  return h;
}
void unsafe_argument_below_kept_words(double* a, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    doubled(a, part);
    work(eighth_of(1, 2, 3, 4, 5, 6, 7, part.id));
    doubled(a + n, part);
  }
}
void unsafe_ninth_and_kept(double* a, int n) {
#pragma omp parallel
  {
    volatile long kept = n;
    const part_t part = divided(n);
    doubled(a, part);
    eighth_of(1, 2, 3, 4, 5, 6, kept, part.quotient);
    kept += eighth_of(1, 2, 3, 4, 5, 6, 7, kept);
    doubled(a + n, part);
    work(kept);
  }
}
struct large {
  long x[24];
};
__attribute__((noipa)) long last_of(struct large, long, long, long, long, long, long, long);
long last_of(struct large l, long a, long b, long c, long d, long e, long f, long g) {
  return l.x[23] + a + b + c + d + e + f + g;
}
void unsafe_end_of_a_large_argument(double* a, int n) {
#pragma omp parallel
  {
    struct large l = {{1, 2, 3}};
    const part_t part = divided(n);
    doubled(a, part);
    l.x[23] = part.remainder;
    work(last_of(l, 1, 2, 3, 4, 5, 6, 7));
    work(last_of(l, 1, 2, 3, 4, 5, 6, n));
    doubled(a + n, part);
  }
}
__attribute__((noipa)) double of_reals(double, double, double, double, double, double, double, double, double, double);
double of_reals(double a, double b, double c, double d, double e, double f, double g, double h, double i, double j) {
  return a + b + c + d + e + f + g + h + i + j;
}
void unsafe_argument_before_a_call_with_reals(double* a, const double* x, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    doubled(a, part);
    const long h = eighth_of(1, 2, 3, 4, 5, 6, part.id, n);
    work(h + (long)of_reals(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]));
    doubled(a + n, part);
  }
}
/* Arguments of the next call, where those of this one lay. */
void unsafe_arguments_of_two_calls(double* a, int n) {
#pragma omp parallel
  {
    const part_t part = divided(n);
    eighth_of(1, 2, 3, 4, 5, 6, part.id, part.remainder);
    eighth_of(1, 2, 3, 4, 5, 6, n, n + 1);
    doubled(a, part);
  }
}
/* Words that a function finds behind an address of the stack. */
struct context {
  int id, threads;
  double* mine;
};
__attribute__((noipa)) void choose(struct context* c, double* a);
void choose(struct context* c, double* a) { c->mine = a + c->id; }
void unsafe_context_of_a_division(double* a, int n) {
#pragma omp parallel
  {
    struct context c = {omp_get_thread_num(), omp_get_num_threads(), 0};
    choose(&c, a);
    const int share = n / c.threads, rest = n % c.threads;
    const int first = c.id < rest ? (share + 1) * c.id : share * c.id + rest;
    for (int i = first; i < first + share + (c.id < rest); ++i) *c.mine += i;
  }
}
__attribute__((noipa)) void through(int** const* p, double* a);
void through(int** const* p, double* a) { a[***p] = 1; }
void unsafe_address_of_an_address(double* a, int n) {
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    int* one = &id;
    int** const two = &one;
    through(&two, a);
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
int* remembered;
#pragma omp threadprivate(remembered)
__attribute__((noipa)) void remember(int* where);
void remember(int* where) { remembered = where; }
__attribute__((noipa)) void use_remembered(double* a);
void use_remembered(double* a) { a[*remembered] = 1; }
void unsafe_written_after_its_address_was_passed(double* a, int n) {
#pragma omp parallel
  {
    int local = 0;
    remember(&local);
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
    local = omp_get_thread_num();
    use_remembered(a);
  }
}
void unsafe_passed_on_one_way(double* a, int n) {
#pragma omp parallel
  {
    int local = 0;
    if (n > 100) remember(&local);
    local = omp_get_thread_num();
    if (n > 100) use_remembered(a);
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
__attribute__((noipa)) int id_before(const double* first);
int id_before(const double* first) { return ((const int*)first)[-2]; }
void unsafe_member_before_the_one_passed(double* a, int n) {
#pragma omp parallel
  {
    struct {
      int id;
      double values[4];
    } c = {omp_get_thread_num(), {1, 2, 3, 4}};
    a[id_before(c.values)] = 1;
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
void unsafe_element_before_the_one_passed(double* a, int n, int k) {
#pragma omp parallel
  {
    int c[16] = {omp_get_thread_num()};
    c[k] = 5;
    remember(&c[k]);
    a[remembered[-k]] = 1;
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] *= 2;
  }
}
int main(void) { return 0; }
