// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>

namespace steelyard::collectives {

/// How much later than another node's clock this one's reads, from messages that say when they were sent. None arrives
/// before it was sent, so the fastest tells; but clocks drift apart, and what was the fastest once becomes too fast.
class ClockOffset {
 public:
  /// `at`: when it was known to be at most `ns`, by our clock; 0: when the first message is waited for.
  explicit ClockOffset(std::int64_t ns = 0, std::int64_t at = 0) : ns_(ns), last_(at) {}
  std::int64_t ns() const { return ns_; }

  /// A message sent at `sent` by the other clock, here at `came` by ours. `waited`: it was waited for, so that `came`
  /// is when it came, and not when somebody looked: only then may the offset be larger than it was.
  void heard(std::int64_t sent, std::int64_t came, bool waited) {
    if (waited) {
      if (last_ == 0) last_ = came;
      const std::int64_t more = (came - last_) / kDrift;
      ns_ += more;
      last_ += more * kDrift;
    }
    ns_ = std::min(ns_, came - sent);
  }

 private:
  static constexpr std::int64_t kDrift = 50'000;  // 20 us in a second, more than clocks of computers drift apart
  std::int64_t ns_;
  std::int64_t last_;
};

}  // namespace steelyard::collectives
