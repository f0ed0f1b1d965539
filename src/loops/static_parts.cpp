// SPDX-License-Identifier: BSD-3-Clause
#include "loops/static_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loops/policy.h"
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
  if (std::exchange(cold_, false) || !(slowest_ns > 0)) return;  // page faults and other caches
  if (forecast_) {
    forecast_->add(std::log(slowest_ns));
    judge();
    return;
  }
  for (std::size_t t = 0; t < ns_.size(); ++t) ns_[t].push_back(ns[t]);
  slowest_.push_back(slowest_ns);
  if (slowest_.size() < kLook) return;
  if (rest_ == 0)
    look();
  else
    --rest_;
  for (std::vector<double>& thread : ns_) thread.clear();
  slowest_.clear();
}

void StaticParts::take(std::vector<double> parts) {
  now_ = std::move(parts);
  cold_ = true;
}

void StaticParts::judge() {
  const decide::Forecast::Result result = forecast_->result(decide::Settings().confidence);
  if (result == decide::Forecast::Result::confirmed) {
    left_ *= 1 - forecast_->gain();
    best_ = now_;
  } else if (result == decide::Forecast::Result::refuted || forecast_->count() >= 2 * kLook) {
    take(best_);
    rest_ = next_rest_;
    next_rest_ = std::min(2 * next_rest_, 1024);
  } else {
    return;
  }
  forecast_.reset();
}

void StaticParts::look() {
  Profile profile{now_, {}};
  for (std::vector<double>& thread : ns_) profile.cost.push_back(median(thread));
  decide::Estimate before;
  for (const double ns : slowest_) before.add(std::log(ns));
  // Balanced, the slowest would need what is the mean now. Of loops that wait for nothing in between, the rest is not
  // ours.
  const double slowest = median(slowest_), total = profile.total();
  const double dearest = *std::ranges::max_element(profile.cost);
  const double saved = (dearest - total / static_cast<double>(profile.cost.size())) / slowest;
  if (slowest <= Policy::kShort || saved <= decide::Settings().exploration) return;
  take(equal_parts(profile, static_cast<int>(profile.cost.size())));
  forecast_.emplace(saved, before);
}

}  // namespace steelyard::loops
