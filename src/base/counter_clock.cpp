// SPDX-License-Identifier: BSD-3-Clause
#include "base/counter_clock.h"

#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace steelyard::base {
namespace {

bool is_kernels_clock() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1U << 8)) == 0) return false;  // runs at one rate, always
  char source[32] = {};
  std::FILE* file = std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == nullptr) return false;
  const bool read = std::fgets(source, sizeof(source), file) != nullptr;
  std::fclose(file);
  return read && std::strncmp(source, "tsc", 3) == 0;
#else
  return false;
#endif
}

}  // namespace

bool SystemCounter::trusted() {
  static const bool known = is_kernels_clock();
  return known;
}

}  // namespace steelyard::base
