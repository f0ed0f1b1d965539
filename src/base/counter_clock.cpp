#include "base/counter_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace steelyard::base {
namespace {

constexpr std::int64_t kCompareEvery = 1'000'000;  // ns
// How fast the counter runs is told by a stretch of time: the first two that agree. It is measured anew each second.
constexpr std::int64_t kStretch = 5'000'000, kLongestStretch = 1'000'000'000;  // ns
constexpr double kAgree = 1e-3;                // what the system itself may adjust, and more
constexpr double kOff = 10'000;                // ns; more than that, and the system was suspended or moved
constexpr std::uint64_t kUndisturbed = 4'000;  // ticks that two readings around one of the clock may take, at most
constexpr int kGiveUp = 64;                    // in a row that took longer

bool agree(double one, double other) { return std::abs(one - other) <= kAgree * one; }

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

void CounterClock::begin_stretch(std::uint64_t ticks, std::int64_t ns) {
  first_ticks_ = ticks;
  first_ns_ = ns;
}

void CounterClock::forget() {
  rate_ = candidate_ = 0;
  first_ns_ = 0;
}

// What the counter says against what the clock says.
void CounterClock::learn(std::uint64_t ticks, std::int64_t ns) {
  if (rate_ > 0) {
    const double since = static_cast<double>(ns - ns_);
    const double off = std::abs(static_cast<double>(ticks - ticks_) * rate_ - since);
    if (ticks < ticks_ || off > kOff + kAgree * since) forget();
  }
  if (first_ns_ == 0) begin_stretch(ticks, ns);
  const std::int64_t length = ns - first_ns_;
  if (length < kStretch) return;
  const double rate = static_cast<double>(length) / static_cast<double>(ticks - first_ticks_);
  if (rate_ > 0 || agree(rate, candidate_)) rate_ = rate;
  if (rate_ <= 0 || length > kLongestStretch) begin_stretch(ticks, ns);
  candidate_ = rate;
}

std::int64_t CounterClock::compare() {
#if defined(__x86_64__)
  if (!usable_) return now_ns();
  const std::uint64_t before = __rdtsc();
  const std::int64_t ns = now_ns();
  const std::uint64_t after = __rdtsc();
  last_ = std::max(last_, ns);
  valid_ = 0;
  shortest_ = std::min(shortest_, after - before);
  if (after - before > std::min(kUndisturbed, 3 * shortest_)) {  // off the core in between, or not fast here at all
    if (++disturbed_ == kGiveUp) usable_ = false;
    return last_;
  }
  disturbed_ = 0;
  learn(after, ns);
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
