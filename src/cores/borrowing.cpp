#include "cores/borrowing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace steelyard::cores {

namespace {
constexpr double kMemory = 1e9;           // ns: after this time, what borrowing won or lost counts 1/e
constexpr double kPause = 100;            // times what was lost: losses stay below 1 % of the time
constexpr std::int64_t kApart = 1000000;  // ns between measurements: one takes about 10 us, 1 % of that
}  // namespace

void Borrowing::learn(const BorrowedRegion& region, std::int64_t now) {
  const auto first_borrowed = region.busy.end() - region.borrowed;
  const auto own_threads = static_cast<double>(first_borrowed - region.busy.begin());
  const double own = std::accumulate(region.busy.begin(), first_borrowed, 0.0);
  // By how much the region was longer than own cores alone would have taken, if no thread on a borrowed core computes for
  // longer than `most`.
  const auto longer = [&](double most) {
    const auto add = [most](double sum, std::int64_t busy) { return sum + std::min(most, static_cast<double>(busy)); };
    return static_cast<double>(region.wall) -
           std::accumulate(first_borrowed, region.busy.end(), own, add) / own_threads;
  };
  // Until measured, a thread that took longer than the others may have been delayed, and may have had more to do.
  const double at_most = longer(own / own_threads);
  suspicious_ = at_most > 0;
  if (suspicious_ && region.delay < 0) return;
  const auto slowest = static_cast<double>(*std::max_element(first_borrowed, region.busy.end()));
  const double computed = slowest - std::min(slowest, static_cast<double>(region.delay));
  balance_ *= std::exp(static_cast<double>(last_ - now) / kMemory);
  balance_ += suspicious_ ? longer(computed) : at_most;
  last_ = now;
  next_measurement_ = now + kApart;
  if (!(balance_ > 0)) return;
  ++pauses_;
  shares_ += computed / std::max(slowest, 1.0);
  resume_ = now + static_cast<std::int64_t>(kPause * balance_);
  balance_ = 0;
}

}  // namespace steelyard::cores
