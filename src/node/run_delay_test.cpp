// SPDX-License-Identifier: BSD-3-Clause
#include "node/run_delay.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "node/binding.h"

namespace steelyard::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void compute(milliseconds length) {
  const auto end = steady_clock::now() + length;
  while (steady_clock::now() < end) {
  }
}

std::int64_t cpu_time_ns(clockid_t clock) {
  timespec used{};
  clock_gettime(clock, &used);
  return used.tv_sec * std::int64_t{1'000'000'000} + used.tv_nsec;
}

TEST(RunDelay, OfAThreadThatSharesItsCpuIsWhatTheOtherHad) {
  const CpuSet cpu = affinity_mask().only(0);
  std::atomic<bool> ends = false;
  std::atomic<int> other_id = 0;
  std::thread other([&] {
    bind_this_thread(cpu);
    other_id = thread_id();
    while (!ends) {
    }
  });
  while (other_id == 0) std::this_thread::yield();
  std::int64_t delay = -1;
  std::int64_t wall = 0, other_ran = 0;
  clockid_t clock_of_other{};
  pthread_getcpuclockid(other.native_handle(), &clock_of_other);
  std::thread mine([&] {
    bind_this_thread(cpu);
    const auto begin = steady_clock::now();
    const std::int64_t before = run_delay(thread_id());
    const std::int64_t other_before = cpu_time_ns(clock_of_other);
    compute(milliseconds(400));
    other_ran = cpu_time_ns(clock_of_other) - other_before;
    delay = before < 0 ? -1 : run_delay(thread_id()) - before;
    wall = std::chrono::nanoseconds(steady_clock::now() - begin).count();
  });
  mine.join();
  ends = true;
  EXPECT_NE(other_id, thread_id());
  other.join();
  if (delay < 0) GTEST_SKIP() << "this kernel has no scheduler statistics";
  EXPECT_GT(other_ran, 0);
  EXPECT_GT(delay, other_ran - other_ran / 10);
  EXPECT_LE(delay, wall);
}

TEST(RunDelay, OfAllThreadsHasEachOfThem) {
  std::atomic<bool> ends = false;
  std::atomic<int> other_id = 0;
  std::thread other([&] {
    compute(milliseconds(50));
    other_id = thread_id();
    while (!ends) std::this_thread::yield();
  });
  while (other_id == 0) std::this_thread::yield();
  const auto delays = run_delays();
  ends = true;
  other.join();
  if (run_delay(thread_id()) < 0) GTEST_SKIP() << "this kernel has no scheduler statistics";
  EXPECT_EQ(delays.count(thread_id()), 1u);
  EXPECT_EQ(delays.count(other_id), 1u);
}

TEST(RunDelay, OfNoThreadIsUnknown) { EXPECT_EQ(run_delay(0), -1); }

}  // namespace
}  // namespace steelyard::node
