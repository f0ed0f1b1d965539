// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace steelyard::base {

/// The processor's counter and the clock that it is compared with.
struct SystemCounter {
  /// The kernel keeps its own time by the counter.
  static bool trusted();
  static std::uint64_t ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
  }
  static std::int64_t ns() { return now_ns(); }
};

/// now_ns() at half of its cost, read from the processor's counter, for one thread that reads it very often. Where the
/// kernel does not keep its time by that counter it is now_ns() itself. Compared with now_ns() every millisecond, from
/// which it is off by a few microseconds at most, while the system adjusts its clock; it never goes back.
template <class Source>
class CounterClockOf {
 public:
  std::int64_t now() {
    if (valid_ == 0) return by_clock();  // reading the counter may be dear
    // Compared also where the counter has been set back: the difference is huge then.
    const std::uint64_t ticks = Source::ticks() - ticks_;
    if (ticks < valid_) return last_ = std::max(last_, ns_ + static_cast<std::int64_t>((ticks * ns_a_tick_) >> kShift));
    return compare();
  }
  /// The counter is used: it is known how fast it runs.
  bool counts() const { return valid_ != 0; }

 private:
  static constexpr int kShift = 32;                         // Encoding: bits of a fraction
  static constexpr std::int64_t kCompareEvery = 1'000'000;  // ns: a comparison costs three readings
  static constexpr double kAdjusted = 500e-6;  // Format: adjtimex(2), by how much the kernel changes a clock's rate
  // Two rates in succession differ by at most this, and a comparison takes at most this part of kCompareEvery. So the
  // counter is off by no more until the next comparison.
  static constexpr double kAgree = 2 * kAdjusted;

  std::int64_t by_clock() {
    const std::int64_t ns = Source::ns();
    if (trusted_ && ns >= compare_at_) return compare();
    return last_ = std::max(last_, ns);
  }

  __attribute__((noinline)) std::int64_t compare() {
    const std::uint64_t before = Source::ticks();
    const std::int64_t ns = Source::ns();
    const std::uint64_t after = Source::ticks();
    last_ = std::max(last_, ns);
    compare_at_ = ns + kCompareEvery;
    const double rate = static_cast<double>(ns - ns_) / static_cast<double>(after - ticks_);
    // Not if the thread was off its core in between, or reading the counter is dear on this machine.
    const bool undisturbed = static_cast<double>(after - before) * rate <= kAgree * kCompareEvery;
    // Not after the first comparison, and after the system was suspended or moved.
    const bool agree = undisturbed && std::abs(rate - rate_) <= kAgree * rate;
    rate_ = rate;
    ticks_ = after;
    ns_ = ns;
    valid_ = 0;
    if (!agree) return last_;
    ns_a_tick_ = static_cast<std::uint64_t>(rate * static_cast<double>(std::uint64_t{1} << kShift));
    valid_ = static_cast<std::uint64_t>(static_cast<double>(kCompareEvery) / rate);
    return last_;
  }

  std::uint64_t ticks_ = 0;  ///< of the counter at `ns_`, the last comparison
  std::int64_t ns_ = 0;
  double rate_ = 0;              ///< ns a tick, between the last two comparisons
  std::uint64_t valid_ = 0;      ///< ticks until the next comparison; 0: each call reads the clock
  std::uint64_t ns_a_tick_ = 0;  ///< `rate_`, in 2^-32
  std::int64_t compare_at_ = 0;  ///< while each call reads the clock
  std::int64_t last_ = 0;
  bool trusted_ = Source::trusted();
};

using CounterClock = CounterClockOf<SystemCounter>;

}  // namespace steelyard::base
