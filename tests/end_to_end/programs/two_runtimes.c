/* SPDX-License-Identifier: BSD-3-Clause */
// A program of gcc that calls a library of clang: each has regions on an OpenMP runtime of its own.
#include <stdio.h>

enum { kCount = 1000, kRegions = 10 };

#ifdef LIBRARY
long sum_in_library(void) {
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < kCount; ++i) sum += i;
  return sum;
}
#else
long sum_in_library(void);

static long sum_in_program(void) {
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < kCount; ++i) sum += i;
  return sum;
}

int main(void) {
  int wrong = 0;
  for (int region = 0; region < kRegions; ++region) {
    wrong += sum_in_program() != kCount * (kCount - 1) / 2;
    wrong += sum_in_library() != kCount * (kCount - 1) / 2;
  }
  puts(wrong == 0 ? "ok" : "failed");
  return wrong != 0;
}
#endif
