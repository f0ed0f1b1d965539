/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that another number of threads would break, by ways that are hard to see: through control flow, parts of the
 * division, addresses of the stack, calling conventions. */
#include <complex.h>
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noipa)) void work(long);
volatile long worked;
void work(long i) { worked = i; }
__attribute__((noipa)) void works(long a, long b, long c);
void works(long a, long b, long c) { worked = a + b + c; }
__attribute__((noipa)) long second_before(const long* end);
long second_before(const long* end) { return end[-2]; }
__attribute__((noipa)) void at_tagged(uintptr_t address, double* a);
void at_tagged(uintptr_t address, double* a) { a[*(int*)(address & ~(uintptr_t)1)] = 1; }
__attribute__((noinline, noclone)) static void lower(long* x) { *x -= 1; }
struct pair {
  long first, second;
};
__attribute__((noipa)) long first_of(const long* second);
long first_of(const long* second) {
  return ((const struct pair*)((const char*)second - offsetof(struct pair, second)))->first;
}
long count, sizes[64];
double total, pow(double, double);
int* shared;

/* What happens depends on the thread. */
void unsafe_effects_of_threads_with_one_more(int n) {
#pragma omp parallel
  if (omp_get_thread_num() < n % omp_get_num_threads()) {
#pragma omp atomic
    ++count;
  }
}
void unsafe_value_of_threads_with_one_more(int n, const int* a) {
#pragma omp parallel
  {
    const int x = omp_get_thread_num() < n % omp_get_num_threads() ? a[0] : a[1];
#pragma omp atomic
    count += x;
  }
}
void unsafe_value_of_thread_0(const double* a) {
#pragma omp parallel
  {
    const double weight = omp_get_thread_num() == 0 ? 0.0 : a[0];
#pragma omp atomic
    total += weight;
  }
}
void unsafe_result_of_thread_0(void) {
#pragma omp parallel
  {
    int x = 5;
    if (omp_get_thread_num() == 0) x = atoi("7");
#pragma omp atomic
    count += x;
  }
}
void unsafe_words_of_thread_0(double* a, int k) {
#pragma omp parallel
  {
    volatile int x[4] = {0, 0, 0, 0};
    if (omp_get_thread_num() == 0) x[2] = 1;
#pragma omp atomic
    count += x[k & 3];
  }
}
void unsafe_all_but_thread_0(const int* flag) {
#pragma omp parallel
  {
    if (omp_get_thread_num() != 0 || *flag) {
#pragma omp atomic
      ++count;
    }
  }
}
void unsafe_loop_of_thread_0(const int* a) {
#pragma omp parallel
  {
    int x = 0;
    if (omp_get_thread_num() == 0)
      while (a[x] != 0) ++x;
#pragma omp atomic
    count += x;
  }
}
__attribute__((noinline, noclone)) static int is_first(void) { return omp_get_thread_num() == 0 ? 3 : 4; }
void unsafe_returned_by_thread_0(void) {
#pragma omp parallel
  {
    const int x = is_first();
#pragma omp atomic
    count += x;
  }
}
void unsafe_flag_of_one_more(int n) {
#pragma omp parallel
  {
    const int x = omp_get_thread_num() < n % omp_get_num_threads();
#pragma omp atomic
    count += x;
  }
}
void unsafe_both_ways(const int* a) {
#pragma omp parallel
  {
    int x = a[9];
    if ((omp_get_thread_num() == 0 && a[1] > 3) || a[2] > 5) x = a[7];
#pragma omp atomic
    count += x;
  }
}
void unsafe_both_ways_with_one_more(int n, const int* a) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num(), threads = omp_get_num_threads();
    long x = 0;
    if ((id < n % threads && a[0]) || a[1]) x = a[3];
#pragma omp atomic
    count += x;
  }
}
__attribute__((noipa)) int next(void);
int next(void) {
  static int value;
  return ++value;
}
void unsafe_repeated_by_thread_0(void) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    int x;
    do x = next();
    while (id == 0 && x < 9);
#pragma omp atomic
    count += x;
  }
}
void unsafe_left_by_others(const int* a) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    int i = 0, x = 0;
    do {
      x = a[i++];
      if (id != 0) break;
    } while (x);
#pragma omp atomic
    count += x;
  }
}
void unsafe_real_argument(const double* a) {
#pragma omp parallel
  {
    const double weight = omp_get_thread_num() == 0 ? a[0] : a[1], power = pow(weight, a[3]);
#pragma omp atomic
    total += power;
  }
}
__attribute__((noipa)) void add(double x);
void add(double x) { total += x; }
void unsafe_real_argument_of_a_local_function(const double* a) {
#pragma omp parallel
  {
    double x = a[2];
    if (omp_get_thread_num() == 0) x = a[1] * a[3];
    add(x);
    worked = 2;
  }
}
__attribute__((noinline, noclone)) static double weight_of(const double* a) {
  double x = a[0];
  if (omp_get_thread_num() == 0) x = a[1] * x;
  worked = 3;
  return x;
}
void unsafe_real_result(const double* a) {
#pragma omp parallel
  add(weight_of(a));
}
void unsafe_half_of_a_vector(double complex* restrict q, const double* restrict p) {
#pragma omp parallel
  {
    double x = p[1];
    if (omp_get_thread_num() == 0) x = p[0];
    q[0] = x + I * p[9];
  }
}
/* Conditions that are used late. */
__attribute__((noipa)) void mixed_arguments(double a, double b, long c, double d, double e);
void mixed_arguments(double a, double b, long c, double d, double e) { total += a + b + (double)c + d + e; }
void unsafe_late_move(const double* a, long p, long q) {
#pragma omp parallel
  mixed_arguments(0.0, a[1], omp_get_thread_num() >= 3 ? p : q, 0.0, 2.5);
}
void unsafe_late_flag(const double* a) {
#pragma omp parallel
  mixed_arguments(a[0], a[1], omp_get_thread_num() == 3, 1.5, 2.5);
}
void unsafe_late_carry(const unsigned long* a, unsigned long n) {
#pragma omp parallel
  mixed_arguments(0.0, 1.0, (long)(a[1] + ((unsigned long)omp_get_thread_num() < n)), 2.0, 3.0);
}
void unsafe_complement(long* a) {
#pragma omp parallel
  {
    long x = a[1];
    if (omp_get_num_threads() > 4) x = ~x;
#pragma omp atomic
    count += x;
  }
}
long double extended_total;
void unsafe_extended_precision(const long double* a) {
#pragma omp parallel
  {
    const long double weight = omp_get_thread_num() == 0 ? 1.0L : 0.0L;
#pragma omp critical
    extended_total += weight * a[0];
  }
}
void unsafe_overflow(unsigned long k) {
#pragma omp parallel
  {
    unsigned long product;
    const long x = __builtin_mul_overflow((unsigned long)omp_get_thread_num() + 1, k, &product) ? 5 : 3;
#pragma omp atomic
    count += x;
  }
}
__attribute__((noreturn)) void errx(int, const char*, ...);
void unsafe_behind_an_error(int* a, int n, const int* kind) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    for (int i = 0; i < n; i++) switch (kind[i]) {
        case 0: break;
        case 1: a[id]++; break;
        case 2: a[id] += 2; break;
        default: errx(1, "unknown");
      }
  }
}
__attribute__((noinline, noclone, noreturn)) static void end(const char* why) {
  worked = why[0];
  abort();
}
void unsafe_behind_an_end(int* a, int n, int* kind, int limit) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    for (int i = 0; i < n; i++) {
      const int x = kind[i] / limit;
      if (__builtin_expect(x < 0, 0)) a[id]++;
      if (x > 7) end("limit");
      kind[i] = x;
    }
  }
}
/* Parts of the division. */
void unsafe_quotient_in_an_argument(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; i++) a[i] *= 2;
    work(n / omp_get_num_threads());
  }
}
void unsafe_remainder_in_an_argument(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; i++) a[i] *= 2;
    works(1, 2, n % omp_get_num_threads());
  }
}
void unsafe_share_in_an_argument(long n) {
#pragma omp parallel
  {
    const long threads = omp_get_num_threads(), id = omp_get_thread_num();
    work(n / threads + (id < n % threads));
  }
}
void unsafe_share_in_memory(double* a, int n, int slot) {
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
    sizes[slot] = share;
  }
}
void unsafe_share_as_an_address(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    const int share = n / threads + (id < n % threads);
    a[share] = 1;
  }
}
void unsafe_short_share(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num(), share = n / threads, rest = n % threads;
    const int first = id < rest ? (share + 1) * id : share * id + rest;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void unsafe_long_share(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num(), share = n / threads, rest = n % threads;
    const int first = id < rest ? (share + 1) * id : share * id + rest;
    for (int i = first; i < first + share + 1; ++i) a[i] *= 2;
  }
}
void unsafe_middle(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    const int share = n / threads + (id < n % threads), first = share * id + (id < n % threads ? 0 : n % threads);
    a[first + first + share] = 1;
  }
}
void unsafe_two_divisions(double* a, unsigned n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = (int)(n / (unsigned)threads), before = (int)n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    const int first = share * id + before;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void unsafe_halves(double* a, long n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    long share = n / threads, before = (int)n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    const long first = share * id + before;
    for (long i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void unsafe_share_of_shares(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, before = n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    int part = share / threads, rest = share % threads;
    if (id < rest) {
      ++part;
      rest = 0;
    }
    const int first = part * id + rest;
    for (int i = first; i < first + part; ++i) a[i] *= 2;
  }
}
void unsafe_is_large(int n, int* out) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, before = n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    const int first = share * id + before, is_large = share > 1000;
    for (int i = first; i < first + share; ++i) out[i] = is_large;
  }
}
typedef union {
  uint64_t whole;
  uint32_t halves[2];
} key_of_two;
__attribute__((noipa)) double random_of(key_of_two key);
double random_of(key_of_two key) { return (double)(key.whole * 6364136223846793005u); }
void unsafe_upper_half(double* a, int n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) {
    key_of_two key;
    key.whole = (uint64_t)i;
    key.halves[1] = (uint32_t)omp_get_thread_num();
    a[i] = random_of(key);
  }
}
void unsafe_lower_half(double* a, int n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) {
    key_of_two key;
    key.whole = (uint64_t)omp_get_thread_num() << 32;
    key.halves[0] = (uint32_t)i;
    a[i] = key.halves[1];
  }
}
/* Addresses of the stack. */
void unsafe_tagged_address(double* a) {
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    at_tagged((uintptr_t)&id | 1, a);
  }
}
void unsafe_end_of_an_array(double* a) {
#pragma omp parallel
  {
    long local[4] = {0, 1, omp_get_thread_num(), 3};
    a[second_before(local + 4)] = 1;
  }
}
void unsafe_container(double* a) {
#pragma omp parallel
  {
    struct pair both = {omp_get_thread_num(), 1};
    a[first_of(&both.second)] = 1;
  }
}
void unsafe_copied_bytes(int slot) {
#pragma omp parallel
  {
    int id[8] = {0, 1, omp_get_thread_num(), 3, 4, 5, 6, 7};
    memcpy(shared + slot, id, sizeof id);
  }
}
void unsafe_changed_by_a_callee(double* a, long n) {
#pragma omp parallel
  {
    const long threads = omp_get_num_threads(), id = omp_get_thread_num();
    long share = n / threads, before = n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    lower(&share);
    const long first = share * id + before;
    for (long i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void unsafe_published_address(void) {
#pragma omp parallel
  {
    int local = 0;
    shared = &local;
#pragma omp barrier
    *(volatile int*)&local = omp_get_thread_num();
#pragma omp barrier
  }
}
__attribute__((noipa)) long* same(long* p);
long* same(long* p) { return p; }
void unsafe_written_by_thread_0_through_a_pointer(void) {
#pragma omp parallel
  {
    long x = 5;
    long* p = same(&x);
    if (omp_get_thread_num() == 0) *p = 7;
#pragma omp atomic
    count += x;
  }
}
/* Calling conventions. */
void unsafe_system_call(void) {
#pragma omp parallel
  {
    long result = 1000;
    const long id = omp_get_thread_num();
    __asm__ volatile("syscall" : "+a"(result) : "D"(id) : "rcx", "r11", "memory");
  }
}
void unsafe_nested_function(double* a) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    __attribute__((noinline)) void store(void) { a[id] = 1; }
    store();
  }
}
__attribute__((noinline, noclone)) static void leaves_registers_alone(void) { worked = 1; }
__attribute__((noinline, noclone)) static void stores_both(long i, long id) { sizes[id] = i; }
void unsafe_kept_over_a_call(long n) {
#pragma omp parallel
  {
    const long id = omp_get_thread_num();
    leaves_registers_alone();
    stores_both(n, id);
  }
}
__attribute__((noipa)) void stores_eighth(long, long, long, long, long, long, long, long);
void stores_eighth(long a, long b, long c, long d, long e, long f, long g, long h) {
  sizes[h] = a + b + c + d + e + f + g;
}
void unsafe_argument_on_the_stack(void) {
#pragma omp parallel
  stores_eighth(1, 2, 3, 4, 5, 6, 7, omp_get_thread_num());
}
__attribute__((noinline, noclone)) static void passes_on(long a, long b, long c, long d, long e, long f, long g,
                                                         long h) {
  stores_eighth(h, g, f, e, d, c, b, a + omp_get_thread_num());
}
void unsafe_tail_call(void) {
#pragma omp parallel
  passes_on(1, 2, 3, 4, 5, 6, 7, 8);
}
struct large {
  long x[64];
};
__attribute__((noipa)) void takes_large(struct large);
void takes_large(struct large l) { sizes[l.x[63]] = 1; }
void unsafe_large_argument(void) {
#pragma omp parallel
  {
    struct large l = {{1, 2, 3}};
    l.x[63] = omp_get_thread_num();
    takes_large(l);
  }
}
__attribute__((noipa)) void log(long);
void log(long id) { sizes[id] = 1; }
void unsafe_own_function_of_a_known_name(void) {
#pragma omp parallel
  log(omp_get_thread_num());
}
/* Each way has its own jump into the loop, but one executes an iteration of the next thread, too. */
void unsafe_jumps_of_two_ends(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, i, end;
    if (id < n % threads) {
      ++share;
      i = share * id;
      end = i + share;
      if (i >= end) goto out;
    } else {
      i = share * id + n % threads;
      end = i + share + 1;
      if (i >= end) goto out;
    }
    do a[i] *= 2;
    while (++i < end);
  out:;
  }
}
void unsafe_least_of_share(double* a, const int* b, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num();
    int share = n / threads, before = n % threads;
    if (id < before) {
      ++share;
      before = 0;
    }
    const int first = share * id + before;
    for (int i = first; i < first + share; ++i) a[share < b[i] ? share : b[i]] *= 2;
  }
}
int main(void) { return 0; }
