#include <omp.h>

#include "two_runtimes.h"

int library_threads() {
  int threads = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  threads = omp_get_num_threads();
  return threads;
}
int library_for_each() { return wrong_by_for_each(); }
int library_calls() { return wrong_by_calls(); }
