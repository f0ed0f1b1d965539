// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <time.h>

#include <cstdint>

namespace steelyard::base {

/// Nanoseconds on a clock of the system.
inline std::int64_t ns_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

/// Nanoseconds on the monotonic clock; the same clock in every process of a node. About 25 ns a call.
inline std::int64_t now_ns() { return ns_of(CLOCK_MONOTONIC); }

/// Nanoseconds that the calling thread has been on a core.
inline std::int64_t thread_cpu_ns() { return ns_of(CLOCK_THREAD_CPUTIME_ID); }

inline constexpr double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace steelyard::base
