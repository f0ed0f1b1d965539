#include "base/counter_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace steelyard::base {
namespace {

TEST(CounterClock, IsTheMonotonicClockAndNeverGoesBack) {
  CounterClock clock;
  std::int64_t last = 0, worst = 0;
  int disturbed = 0, rounds = 0;
  for (const std::int64_t end = now_ns() + 200'000'000; now_ns() < end; ++rounds) {
    const std::int64_t before = now_ns(), now = clock.now(), after = now_ns();
    ASSERT_GE(now, last);
    last = now;
    if (after - before > 2'000) {  // off the core in between
      ++disturbed;
      continue;
    }
    worst = std::max({worst, before - now, now - after});
  }
  EXPECT_LT(disturbed, rounds / 2);
  EXPECT_LT(worst, 20'000);  // half a thousandth of a millisecond would be the system's own adjustment at its fastest
}

TEST(CounterClock, IsComparedAfterAPause) {
  CounterClock clock;
  for (const std::int64_t end = now_ns() + 10'000'000; now_ns() < end;) clock.now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::int64_t before = now_ns(), now = clock.now(), after = now_ns();
  EXPECT_GE(now, before - 20'000);
  EXPECT_LE(now, after + 20'000);
}

}  // namespace
}  // namespace steelyard::base
