#include "base/counter_clock.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace steelyard::base {
namespace {

constexpr std::int64_t kCompareEvery = 1'000'000;  // ns
// How fast the counter runs is not known well enough over less; over more, the system may have been suspended in between.
constexpr std::int64_t kBaseline = 5'000'000, kLongestBaseline = 1'000'000'000;  // ns
constexpr std::uint64_t kUndisturbed =
    4'000;  // ticks that two readings of the counter around one of the clock may take

}  // namespace

bool CounterClock::kernel_uses_the_counter() {
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

void CounterClock::begin_baseline(std::uint64_t ticks, std::int64_t ns) {
  first_ticks_ = ticks;
  first_ns_ = ns;
}

std::int64_t CounterClock::compare() {
#if defined(__x86_64__)
  if (!usable_) return now_ns();
  const std::uint64_t before = __rdtsc();
  const std::int64_t ns = now_ns();
  const std::uint64_t after = __rdtsc();
  last_ = std::max(last_, ns);
  valid_ = 0;
  if (after - before > kUndisturbed) return last_;  // off the core in between
  if (first_ns_ == 0 || after <= first_ticks_) begin_baseline(after, ns);
  const std::int64_t length = ns - first_ns_;
  if (length >= kBaseline) rate_ = static_cast<double>(length) / static_cast<double>(after - first_ticks_);
  if (length > kLongestBaseline) begin_baseline(after, ns);
  if (rate_ <= 0) return last_;
  ticks_ = after;
  ns_ = ns;
  ns_a_tick_ = static_cast<std::uint64_t>(rate_ * static_cast<double>(std::uint64_t{1} << kShift));
  valid_ = static_cast<std::uint64_t>(static_cast<double>(kCompareEvery) / rate_);
  return last_;
#else
  return now_ns();
#endif
}

}  // namespace steelyard::base
