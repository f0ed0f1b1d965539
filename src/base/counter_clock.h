#pragma once
#include <algorithm>
#include <cstdint>

#include "base/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace steelyard::base {

/// now_ns() at half of its cost, read from the processor's counter, for one thread that reads it very often. Where the kernel
/// does not keep its time by that counter it is now_ns() itself. Compared with now_ns() every millisecond, from which it is off
/// by less than a microsecond; it never goes back.
class CounterClock {
 public:
  CounterClock() : usable_(kernel_uses_the_counter()) {}

  std::int64_t now() {
#if defined(__x86_64__)
    // Also where the counter has been set back: the difference is huge then.
    const std::uint64_t ticks = __rdtsc() - ticks_;
    if (ticks < valid_) return last_ = std::max(last_, ns_ + static_cast<std::int64_t>((ticks * ns_a_tick_) >> kShift));
#endif
    return compare();
  }

 private:
  static constexpr int kShift = 32;
  static bool kernel_uses_the_counter();
  std::int64_t compare();
  void begin_stretch(std::uint64_t ticks, std::int64_t ns);
  void learn(std::uint64_t ticks, std::int64_t ns);
  void forget();

  std::uint64_t ticks_ = 0;  ///< of the counter at `ns_`
  std::int64_t ns_ = 0;
  std::uint64_t valid_ = 0;      ///< ticks until the next comparison; 0: each time
  std::uint64_t ns_a_tick_ = 0;  ///< in 2^-32
  std::int64_t last_ = 0;
  double rate_ = 0;                ///< ns a tick; 0: not known
  double candidate_ = 0;           ///< what the last stretch has told
  std::uint64_t first_ticks_ = 0;  ///< where the present stretch begins
  std::int64_t first_ns_ = 0;
  std::uint64_t shortest_ = ~std::uint64_t{0} / 4;  ///< ticks of a comparison
  int disturbed_ = 0;                               ///< comparisons in a row
  bool usable_;
};

}  // namespace steelyard::base
