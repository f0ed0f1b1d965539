// SPDX-License-Identifier: BSD-3-Clause
#include "base/counter_clock.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

/// A machine whose time passes when it is told to, at 2 ticks a ns. A reading of either takes a little.
struct Machine {
  static inline double ticks_a_ns = 2;
  static inline double counter = 0;
  static inline std::int64_t time = 0;
  static inline int readings_of_clock = 0;
  static inline std::int64_t reading_takes = 10;
  static void begin() {
    ticks_a_ns = 2;
    counter = 1e6;
    time = 1'000'000'000;
    reading_takes = 10;
    readings_of_clock = 0;
  }
  static void pass(std::int64_t ns) {
    time += ns;
    counter += static_cast<double>(ns) * ticks_a_ns;
  }
  static bool trusted() { return true; }
  static std::uint64_t ticks() {
    pass(reading_takes);
    return static_cast<std::uint64_t>(counter);
  }
  static std::int64_t ns() {
    ++readings_of_clock;
    pass(reading_takes);
    return time;
  }
};
using Clock = CounterClockOf<Machine>;

/// Reads it every 10 us for a while, and tells by how much it was off at worst.
std::int64_t worst_over(Clock& clock, std::int64_t ns) {
  std::int64_t worst = 0, last = 0;
  for (const std::int64_t end = Machine::time + ns; Machine::time < end; Machine::pass(10'000)) {
    const std::int64_t now = clock.now();
    EXPECT_GE(now, last);
    last = now;
    worst = std::max(worst, std::abs(Machine::time - now));
  }
  return worst;
}

TEST(CounterClock, CountsOnceItKnowsHowFast) {
  Machine::begin();
  Clock clock;
  EXPECT_LT(worst_over(clock, 20'000'000), 200);
  EXPECT_TRUE(clock.counts());
  Machine::readings_of_clock = 0;
  EXPECT_LT(worst_over(clock, 100'000'000), 200);
  EXPECT_LE(Machine::readings_of_clock, 110);  // of 10,000
}

TEST(CounterClock, SurvivesWhatTheClockDoesNotCount) {
  for (const double hours : {1e-6, 1e-3, 1.0, 100.0}) {
    for (const std::int64_t before :
         {2'000'000, 7'000'000, 30'000'000}) {  // in the first stretch, the second, and later
      Machine::begin();
      Clock clock;
      worst_over(clock, before);
      Machine::counter += hours * 3600e9 * Machine::ticks_a_ns;  // suspended: only the counter runs on
      EXPECT_LT(worst_over(clock, 2'000'000'000), 10'000) << hours << " after " << before;
      EXPECT_TRUE(clock.counts());
    }
  }
}

TEST(CounterClock, IsComparedAnewWhereTheCounterChanges) {
  Machine::begin();
  Clock clock;
  worst_over(clock, 30'000'000);
  Machine::counter = 1000;  // set back
  EXPECT_LT(worst_over(clock, 30'000'000), 200);
  EXPECT_TRUE(clock.counts());
  Machine::ticks_a_ns = 3;  // moved to a faster machine: wrong for a millisecond
  worst_over(clock, 2'000'000);
  EXPECT_LT(worst_over(clock, 30'000'000), 200);
  EXPECT_TRUE(clock.counts());
}

TEST(CounterClock, IsTheClockWhereReadingTheCounterIsDear) {
  Machine::begin();
  Machine::reading_takes = 5'000;
  Clock clock;
  worst_over(clock, 50'000'000);
  EXPECT_FALSE(clock.counts());
  Machine::readings_of_clock = 0;
  const double before = Machine::counter;
  clock.now();
  EXPECT_EQ(Machine::readings_of_clock, 1);
  EXPECT_EQ(Machine::counter - before, 5'000 * Machine::ticks_a_ns);  // and none of the counter
}

TEST(CounterClock, OfThisMachineNeverGoesBackAndIsNear) {
  CounterClock clock;
  std::int64_t last = 0, nearest = INT64_MAX;
  for (const std::int64_t end = now_ns() + 100'000'000; now_ns() < end;) {
    const std::int64_t before = now_ns(), now = clock.now(), after = now_ns();
    ASSERT_GE(now, last);
    last = now;
    nearest = std::min(nearest, std::max({std::int64_t{0}, before - now, now - after}));
  }
  EXPECT_LT(nearest, 20'000);  // at its best: a thread that loses its core in between is far off
}

}  // namespace
}  // namespace steelyard::base
