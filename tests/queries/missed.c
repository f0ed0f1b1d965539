/* Regions that depend on the number of threads and are recognised all the same, as a review found. As long as one is, auto is not
 * the default of --thread-numbers. */
#include <omp.h>
#include <stdint.h>

__attribute__((noipa)) void work(long);
volatile long worked;
void work(long i) { worked = i; }
__attribute__((noipa)) long second_before(const long* end);
long second_before(const long* end) { return end[-2]; }
__attribute__((noipa)) void at_tagged(uintptr_t address, double* a);
void at_tagged(uintptr_t address, double* a) { a[*(int*)(address & ~(uintptr_t)1)] = 1; }
long count;
double total;

void missed_effects_of_threads_with_one_more(int n) {
#pragma omp parallel
  if (omp_get_thread_num() < n % omp_get_num_threads()) {
#pragma omp atomic
    ++count;
  }
}
void missed_value_of_threads_with_one_more(int n, const int* a) {
#pragma omp parallel
  {
    const int x = omp_get_thread_num() < n % omp_get_num_threads() ? a[0] : a[1];
#pragma omp atomic
    count += x;
  }
}
void missed_value_of_thread_0(const double* a) {
#pragma omp parallel
  {
    const double weight = omp_get_thread_num() == 0 ? 0.0 : a[0];
#pragma omp atomic
    total += weight;
  }
}
void missed_quotient_in_an_argument(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; i++) a[i] *= 2;
    work(n / omp_get_num_threads());
  }
}
void missed_short_share(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), id = omp_get_thread_num(), share = n / threads, rest = n % threads;
    const int first = id < rest ? (share + 1) * id : share * id + rest;
    for (int i = first; i < first + share; ++i) a[i] *= 2;
  }
}
void missed_tagged_address(double* a) {
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    at_tagged((uintptr_t)&id | 1, a);
  }
}
void missed_end_of_an_array(double* a) {
#pragma omp parallel
  {
    long local[4] = {0, 1, omp_get_thread_num(), 3};
    a[second_before(local + 4)] = 1;
  }
}
int main(void) { return 0; }
