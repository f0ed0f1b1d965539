#include <omp.h>

#include "two_runtimes.h"

extern "C" int helper_calls(std::int64_t count, int (*run)(std::int64_t));

int library_threads() {
  int threads = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  threads = omp_get_num_threads();
  return threads;
}
int library_for_each() { return wrong_by_for_each(); }
int library_calls() { return wrong_by_calls(); }
int library_refused() {
  static std::atomic<int> ran[kCount];
  for (auto& each : ran) each = 0;
  int refused = 0, wrong = 0;
#pragma omp parallel num_threads(3) reduction(+ : refused, wrong)
  for (int times = 0; times < 10; ++times) {  // so many that others would wait for who was sent away
    const int result = helper_calls(kCount, [](std::int64_t i) { return ++ran[i]; });
    refused += result == 1;
    wrong += result < 0;
  }
  for (const auto& each : ran) wrong += refused == 0 ? each != 10 : each > 10;
  return wrong > 0 ? -wrong : refused;
}
