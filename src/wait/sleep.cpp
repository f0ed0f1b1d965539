// SPDX-License-Identifier: BSD-3-Clause
#include "wait/sleep.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "base/clock.h"

namespace steelyard::wait {
namespace {

// A default timer slack of 50 us would more than double the steps that are slept here.
void sharpen_timer() {
  thread_local bool sharp = false;
  if (sharp) return;
  sharp = true;
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

timespec to_timespec(std::int64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

}  // namespace

void sleep_for(std::int64_t ns) {
  sharpen_timer();
  const timespec t = to_timespec(ns);
  nanosleep(&t, nullptr);
}

bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t ns, std::uint32_t set) {
  static_assert(sizeof(word) == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
  if (ns == kForever) return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, seen, nullptr, nullptr, set) == 0;
  sharpen_timer();
  const timespec until = to_timespec(base::now_ns() + ns);  // with a set, the time limit is a time of this clock
  return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, seen, &until, nullptr, set) == 0;
}

int wake(std::atomic<std::uint32_t>& word, int count, std::uint32_t set) {
  return static_cast<int>(syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, count, nullptr, nullptr, set));
}

void wake_all(std::atomic<std::uint32_t>& word) { wake(word, INT_MAX); }

}  // namespace steelyard::wait
