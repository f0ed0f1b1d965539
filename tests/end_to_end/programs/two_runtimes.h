#pragma once

// A library that clang has compiled, for a program that gcc has: each has its own OpenMP runtime in one process.
extern "C" {
int library_threads(void);   ///< of a region of its own
int library_for_each(void);  ///< iterations that did not run exactly once
int library_calls(void);     ///< the same by steelyard_loop_begin(), _next() and _end()
}

#include <atomic>
#include <memory>

#include "steelyard/loops.hpp"

namespace {

constexpr int kCount = 1000;

struct Runs {
  std::unique_ptr<std::atomic<int>[]> each = std::make_unique<std::atomic<int>[]>(kCount);
  int wrong(int times) const {
    int count = 0;
    for (int i = 0; i < kCount; ++i) count += each[i] != times;
    return count;
  }
};

int wrong_by_for_each() {
  Runs runs;
  for (int times = 0; times < 20; ++times) steelyard::for_each(0, kCount, [&](int i) { ++runs.each[i]; });
  return runs.wrong(20);
}

int wrong_by_calls() {
  Runs runs;
  std::atomic<int> errors{0};
#pragma omp parallel num_threads(3)
  for (int times = 0; times < 20; ++times) {
    steelyard_iterations_t mine;
    errors += steelyard_loop_begin(nullptr, 0, kCount, 1, &mine) != STEELYARD_SUCCESS;
    while (steelyard_loop_next(&mine) != 0)
      for (auto i = mine.first; i < mine.last; ++i) ++runs.each[i];
    errors += steelyard_loop_end(&mine) != STEELYARD_SUCCESS;
  }
  return runs.wrong(20) + errors;
}

}  // namespace
