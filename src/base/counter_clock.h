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
    if (valid_ == 0) return compare();  // reading the counter may be dear
    // Compared also where the counter has been set back: the difference is huge then.
    const std::uint64_t ticks = Source::ticks() - ticks_;
    if (ticks < valid_) return last_ = std::max(last_, ns_ + static_cast<std::int64_t>((ticks * ns_a_tick_) >> kShift));
    return compare();
  }
  /// The counter is used: it is known how fast it runs.
  bool counts() const { return valid_ != 0; }

 private:
  static constexpr int kShift = 32;                         // Encoding: bits of a fraction
  static constexpr std::int64_t kCompareEvery = 1'000'000;  // ns
  // How fast the counter runs is told by a stretch of time: the first two that agree. It is measured anew each second.
  static constexpr std::int64_t kStretch = 5'000'000, kLongestStretch = 1'000'000'000;  // ns
  static constexpr double kAgree = 1e-3;  // what the system itself may adjust, and more
  static constexpr double kOff = 2'000;   // ns; more than that, and it was suspended or moved
  static constexpr std::uint64_t kUndisturbed =
      4'000;  // ticks that two readings around one of the clock may take, at most
  static constexpr std::uint64_t kAlwaysUndisturbed = 500;
  static constexpr int kGiveUp = 64;  // in a row that took longer: the counter is dearer here than the clock

  __attribute__((noinline)) std::int64_t compare() {
    if (!usable_) return last_ = std::max(last_, Source::ns());
    const std::uint64_t before = Source::ticks();
    const std::int64_t ns = Source::ns();
    const std::uint64_t after = Source::ticks(), took = after - before;
    last_ = std::max(last_, ns);
    valid_ = 0;
    if (took > kUndisturbed) {
      if (++disturbed_ == kGiveUp) usable_ = false;
      return last_;
    }
    disturbed_ = 0;
    shortest_ = std::min(shortest_, took);
    if (took > std::max(3 * shortest_, kAlwaysUndisturbed)) return last_;  // off the core in between
    learn(after, ns);
    if (rate_ <= 0) return last_;
    ticks_ = after;
    ns_ = ns;
    ns_a_tick_ = static_cast<std::uint64_t>(rate_ * static_cast<double>(std::uint64_t{1} << kShift));
    valid_ = static_cast<std::uint64_t>(static_cast<double>(kCompareEvery) / rate_);
    return last_;
  }

  void begin_stretch(std::uint64_t ticks, std::int64_t ns) {
    first_ticks_ = ticks;
    first_ns_ = ns;
  }

  // What the counter says against what the clock says.
  void learn(std::uint64_t ticks, std::int64_t ns) {
    if (rate_ > 0) {
      const auto since = static_cast<double>(ns - ns_);
      const double off = std::abs(static_cast<double>(ticks - ticks_) * rate_ - since);
      if (ticks < ticks_ || off > kOff + kAgree * since) {
        rate_ = candidate_ = 0;
        first_ns_ = 0;
      }
    }
    if (first_ns_ == 0 || ticks <= first_ticks_) begin_stretch(ticks, ns);
    const std::int64_t length = ns - first_ns_;
    if (length < kStretch) return;
    const double rate = static_cast<double>(length) / static_cast<double>(ticks - first_ticks_);
    if (rate_ > 0 || std::abs(rate - candidate_) <= kAgree * rate) rate_ = rate;
    if (rate_ <= 0 || length > kLongestStretch) begin_stretch(ticks, ns);
    candidate_ = rate;
  }

  std::uint64_t ticks_ = 0;  ///< of the counter at `ns_`
  std::int64_t ns_ = 0;
  std::uint64_t valid_ = 0;      ///< ticks until the next comparison; 0: each time
  std::uint64_t ns_a_tick_ = 0;  ///< in 2^-32
  std::int64_t last_ = 0;
  double rate_ = 0;                ///< ns a tick; 0: not known
  double candidate_ = 0;           ///< what the last stretch has told
  std::uint64_t first_ticks_ = 0;  ///< where the present stretch begins
  std::int64_t first_ns_ = 0;
  std::uint64_t shortest_ = kUndisturbed;  ///< ticks of a comparison
  int disturbed_ = 0;                      ///< comparisons in a row
  bool usable_ = Source::trusted();
};

using CounterClock = CounterClockOf<SystemCounter>;

}  // namespace steelyard::base
