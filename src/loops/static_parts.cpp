// SPDX-License-Identifier: BSD-3-Clause
#include "loops/static_parts.h"

#include <algorithm>
#include <utility>

#include "loops/profile.h"

namespace steelyard::loops {
namespace {

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

StaticParts::StaticParts(int threads)
    : even_(even_parts(threads)), now_(even_), best_(even_), ns_(static_cast<std::size_t>(threads)) {}

void StaticParts::executed(std::span<const double> ns, double slowest_ns) {
  if (!std::exchange(warm_, true)) return;  // page faults and sleeping threads
  for (std::size_t t = 0; t < ns_.size(); ++t) ns_[t].push_back(ns[t]);
  slowest_.push_back(slowest_ns);
  if (slowest_.size() < kLook) return;
  look_ends();
  for (std::vector<double>& thread : ns_) thread.clear();
  slowest_.clear();
}

void StaticParts::look_ends() {
  const double slowest = median(slowest_);
  Profile profile{now_, {}};
  for (std::vector<double>& thread : ns_) profile.cost.push_back(median(thread));
  if (now_ != best_) {
    if (slowest > best_slowest_ * (1 - kKept)) {
      now_ = best_;
      rest_ = next_rest_;
      next_rest_ = std::min(2 * next_rest_, 1024);
      return;
    }
    left_ *= slowest / best_slowest_;
    best_ = now_;
  }
  best_slowest_ = slowest;
  if (rest_ > 0) {
    --rest_;
    return;
  }
  // Balanced, the slowest would need what is the mean now. Of loops that wait for nothing in between, the rest is not
  // ours.
  const double total = profile.total();
  const double dearest = *std::ranges::max_element(profile.cost);
  const double saved = dearest - total / static_cast<double>(profile.cost.size());
  if (slowest > kShort && saved > kWorthIt * slowest)
    now_ = equal_parts(profile, static_cast<int>(profile.cost.size()));
}

}  // namespace steelyard::loops
