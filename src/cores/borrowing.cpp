// SPDX-License-Identifier: BSD-3-Clause
#include "cores/borrowing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace steelyard::cores {

namespace {

// ns: the time after which a gain or loss counts 1/e, and for which regions are measured after a suspicion. Far above a
// time slice, in which other threads come and go, and far below a run.
constexpr std::int64_t kMemory = 1'000'000'000;
// A measurement reads two files of /proc, about 10 us: 1 % of this (ns).
constexpr std::int64_t kBetweenMeasurements = 1'000'000;

// By how much the region was longer than on own cores alone. An unhindered region is taken to use all of its cores
// alike.
double loss(const BorrowedRegion& region, std::int64_t held_up) {
  const double own = region.threads - region.borrowed;
  return static_cast<double>(region.wall) - static_cast<double>(region.wall - held_up) * region.threads / own;
}

}  // namespace

bool Borrowing::wants_measurement(std::int64_t now, std::int64_t expected) const {
  return now < suspicious_until_ && (expected >= kBetweenMeasurements || now >= next_measurement_);
}

void Borrowing::learn(const BorrowedRegion& region, std::int64_t now) {
  // A thread that is slower than all on own cores may have been held up, or may have had more to do.
  const std::int64_t at_most = std::max<std::int64_t>(0, region.wall - region.own_busy);
  if (loss(region, at_most) > 0) suspicious_until_ = std::max(suspicious_until_, now + kMemory);
  if (region.measured) {
    next_measurement_ = now + kBetweenMeasurements;
  } else if (now < suspicious_until_) {
    return;
  }
  balance_ *= std::exp(static_cast<double>(last_ - now) / static_cast<double>(kMemory));
  balance_ += loss(region, std::clamp<std::int64_t>(region.run_delay, 0, at_most));
  last_ = now;
  if (!(balance_ > 0)) return;
  ++pauses_;
  // A budget of 0 ends borrowing for good, at a time to which a later one can still be added.
  constexpr double kForever = static_cast<double>(std::numeric_limits<std::int64_t>::max()) / 4;
  resume_ = now + static_cast<std::int64_t>(std::min(balance_ / exploration_, kForever));
  suspicious_until_ = resume_ + kMemory;
  balance_ = 0;
}

int Borrowing::threads_worth(int own, double length, std::int64_t now) const {
  auto sorted = delays_;
  if (delays_known_ < std::ssize(sorted) || now - last_begin_ > kMemory) return std::numeric_limits<int>::max();
  const auto median = sorted.begin() + sorted.size() / 2;
  std::nth_element(sorted.begin(), median, sorted.end());
  // The nth thread shortens the region by length * own / (n * (n - 1)).
  const double most = 0.5 + std::sqrt(0.25 + length * own / std::max(1.0, *median));
  return static_cast<int>(std::min(most, 1e9));
}

void Borrowing::learn_begin(int added, std::int64_t delay, std::int64_t now) {
  if (now - last_begin_ > kMemory) delays_known_ = 0;
  delays_[static_cast<std::size_t>(delays_known_++) % delays_.size()] = static_cast<double>(delay) / added;
  last_begin_ = now;
}

}  // namespace steelyard::cores
