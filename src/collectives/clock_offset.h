// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>

namespace steelyard::collectives {

/// By how much this node's clock is ahead of another node's, from messages that contain their sending time. No message
/// arrives before it was sent, so the fastest message gives the best bound. Clocks drift apart, so an old bound may be
/// too small.
class ClockOffset {
 public:
  /// @param at by our clock: when the offset was at most `ns`; 0: when a rank waits for the first message
  explicit ClockOffset(std::int64_t ns = 0, std::int64_t at = 0) : ns_(ns), last_(at) {}
  std::int64_t ns() const { return ns_; }

  /// A message was sent at `sent` by the other clock and received at `came` by ours.
  /// @param waited this rank was waiting, so `came` is the time of arrival. Otherwise the message may have arrived long
  ///   before, and the offset does not grow.
  void add_message(std::int64_t sent, std::int64_t came, bool waited) {
    if (waited) {
      if (last_ == 0) last_ = came;
      const std::int64_t more = (came - last_) / kDrift;
      ns_ += more;
      last_ += more * kDrift;
    }
    ns_ = std::min(ns_, came - sent);
  }

 private:
  // ns in which clocks drift apart by at most 1 ns: 20 us in a second, more than quartz clocks do.
  static constexpr std::int64_t kDrift = 50'000;
  std::int64_t ns_;
  std::int64_t last_;
};

}  // namespace steelyard::collectives
