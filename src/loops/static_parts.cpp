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

StaticParts::StaticParts(int threads, decide::Settings settings)
    : settings_(settings),
      even_(even_parts(threads)),
      now_(even_),
      best_(even_),
      ns_(static_cast<std::size_t>(threads)) {}

void StaticParts::executed(std::span<const double> ns, double slowest_ns) {
  if (std::exchange(cold_, false) || !(slowest_ns > 0)) return;  // page faults and cold caches
  if (forecast_) {
    forecast_->add(std::log(slowest_ns));
    verify();
    return;
  }
  for (std::size_t t = 0; t < ns_.size(); ++t) ns_[t].push_back(ns[t]);
  slowest_.push_back(slowest_ns);
  if (slowest_.size() < kPlanned) return;
  if (pause_ == 0)
    plan();
  else
    --pause_;
  for (std::vector<double>& thread : ns_) thread.clear();
  slowest_.clear();
}

void StaticParts::use(std::vector<double> parts) {
  now_ = std::move(parts);
  cold_ = true;
}

void StaticParts::verify() {
  const decide::Forecast::Result result = forecast_->result(settings_.confidence);
  if (result == decide::Forecast::Result::confirmed) {
    left_ *= 1 - forecast_->gain();
    best_ = now_;
  } else if (result == decide::Forecast::Result::refuted || forecast_->count() >= 2 * kPlanned) {
    use(best_);
    pause_ = next_pause_;
    next_pause_ = std::min(2 * next_pause_, kLongestPause);
  } else {
    return;
  }
  forecast_.reset();
}

void StaticParts::plan() {
  Profile profile{now_, {}};
  for (std::vector<double>& thread : ns_) profile.cost.push_back(median(thread));
  decide::Estimate before;
  for (const double ns : slowest_) before.add(std::log(ns));
  // In balanced loops, the slowest thread would need the present mean. If the slowest thread differs from loop to loop,
  // that part of the time cannot be saved.
  const double slowest = median(slowest_), total = profile.total();
  const double dearest = *std::ranges::max_element(profile.cost);
  const double saved = (dearest - total / static_cast<double>(profile.cost.size())) / slowest;
  if (slowest <= Policy::kShort || saved <= settings_.exploration) return;
  use(equal_parts(profile, static_cast<int>(profile.cost.size())));
  forecast_.emplace(saved, before);
}

}  // namespace steelyard::loops
