// SPDX-License-Identifier: BSD-3-Clause
#include "wait/sleep.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

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

bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t ns) {
  static_assert(sizeof(word) == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
  if (ns == kForever) return syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0) == 0;
  sharpen_timer();
  const timespec t = to_timespec(ns);
  return syscall(SYS_futex, &word, FUTEX_WAIT, seen, &t, nullptr, 0) == 0;
}

int wake(std::atomic<std::uint32_t>& word, int count) {
  return static_cast<int>(syscall(SYS_futex, &word, FUTEX_WAKE, count, nullptr, nullptr, 0));
}

void wake_all(std::atomic<std::uint32_t>& word) { wake(word, INT_MAX); }

}  // namespace steelyard::wait
