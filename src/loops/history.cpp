// SPDX-License-Identifier: BSD-3-Clause
#include "loops/history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "decide/estimate.h"

namespace steelyard::loops {
namespace {

void blend(double& mean, double value) { mean = mean > 0 ? mean + (value - mean) / decide::kRecent : value; }

/// How far boundaries go at once towards where they should be, after the first time: a share of the way.
constexpr double kDamping = 0.7;

}  // namespace

double Execution::stolen_share() const {
  std::uint64_t stolen = 0;
  for (const ThreadSample& sample : threads) stolen += sample.stolen;
  return count > 0 ? static_cast<double>(stolen) / static_cast<double>(count) : 0;
}

double Execution::idle_share() const {
  double idle = 0;
  for (const ThreadSample& sample : threads) idle += static_cast<double>(sample.idle_ns);
  const double all = static_cast<double>(elapsed_ns) * static_cast<double>(threads.size());
  return all > 0 ? idle / all : 0;
}

bool Assignment::complete() const {
  std::vector<Piece> pieces;
  for (const auto& thread : threads) pieces.insert(pieces.end(), thread.begin(), thread.end());
  std::ranges::sort(pieces, {}, &Piece::begin);
  std::uint64_t next = 0;
  for (const Piece& piece : pieces) {
    if (piece.begin != next || piece.end <= piece.begin) return false;
    next = piece.end;
  }
  return next == count;
}

void History::add(const Plan& plan, const Execution& execution) {
  newest_ = (newest_ + 1) % kRing;
  kept_ = std::min(kept_ + 1, kRing);
  ring_[static_cast<std::size_t>(newest_)] = execution;
  ++executions_;
  blend(mean_ns_, static_cast<double>(execution.elapsed_ns));
  if (execution.count == 0 || static_cast<int>(execution.threads.size()) != threads_) return;
  const bool first = kept_ == 1;
  if (first && measured_.iteration_ns > 0) return;  // an earlier run knows better
  if (std::exchange(cold_, first)) forget_costs();
  learn_costs(plan, execution);
}

void History::learn_costs(const Plan& plan, const Execution& execution) {
  double own_ns = 0, own = 0, stolen_ns = 0, stolen = 0;
  for (const ThreadSample& sample : execution.threads) {
    own_ns += static_cast<double>(sample.own_ns);
    own += static_cast<double>(sample.own_iterations);
    stolen_ns += static_cast<double>(sample.busy_ns - sample.own_ns);
    stolen += static_cast<double>(sample.stolen);
  }
  if (own > 0) blend(measured_.iteration_ns, own_ns / own);
  if (stolen > 0) blend(measured_.stolen_ns, stolen_ns / stolen);
  if (measured_.iteration_ns == 0) measured_.iteration_ns = measured_.stolen_ns;
  if (plan.static_fraction > 0) learn_spread(plan, execution);
  learn_profile(plan, execution);
}

// A thread that executed nothing of its own part was late. Its iterations are assumed to cost the mean of all.
double History::own_cost(const ThreadSample& sample) const {
  return sample.own_iterations > 0 ? static_cast<double>(sample.own_ns) / static_cast<double>(sample.own_iterations)
                                   : measured_.iteration_ns;
}

// By the model of fraction.h, the loop is shortest if the slowest thread ends its static part when the work of all ends
// on average. If its static part ends later by x ns, another x p ns of work should have been dynamic.
void History::learn_spread(const Plan& plan, const Execution& execution) {
  const double part = static_cast<double>(execution.count) / threads_;
  const auto elapsed = static_cast<double>(execution.elapsed_ns);
  double slowest = 0, mean_end = elapsed;
  for (const ThreadSample& sample : execution.threads) {
    const double begin = elapsed - static_cast<double>(sample.busy_ns + sample.idle_ns);
    slowest = std::max(slowest, begin + own_cost(sample) * part * plan.static_fraction);
    mean_end -= static_cast<double>(sample.idle_ns) / threads_;
  }
  const double dynamic = (1 - plan.static_fraction) * part * std::max(measured_.iteration_ns, measured_.stolen_ns);
  blend(measured_.spread_ns, std::max(0.0, slowest - mean_end + dynamic));
}

void History::forget_costs() {
  measured_.iteration_ns = measured_.stolen_ns = measured_.spread_ns = 0;
  measured_.profile = {};
  profile_count_ = latest_even_ns_ = 0;
}

void History::learn_profile(const Plan& plan, const Execution& execution) {
  const auto count = static_cast<double>(execution.count);
  const auto threads = static_cast<std::size_t>(threads_);
  latest_even_ns_ = 0;
  // Iterations from a pool are executed by any thread, so their places have no known cost.
  if (plan.boundaries.size() != threads + 1 || plan.pool < execution.count) return;
  Profile fresh;
  fresh.place.push_back(0);
  for (std::size_t t = 0; t < threads; ++t) {
    const auto size = static_cast<double>(plan.boundaries[t + 1] - plan.boundaries[t]);
    if (size == 0) continue;
    fresh.place.push_back(static_cast<double>(plan.boundaries[t + 1]) / count);
    fresh.cost.push_back(own_cost(execution.threads[t]) * size);
  }
  if (fresh.cost.empty()) return;
  fresh.place.back() = 1;
  latest_even_ns_ = fresh.total() / threads_ * (1 + imbalance(fresh, even_parts(threads_))) / count;
  if (fresh.place == measured_.profile.place && profile_count_ == count) {
    for (std::size_t i = 0; i < fresh.cost.size(); ++i) {
      double& known = measured_.profile.cost[i];
      known += (fresh.cost[i] - known) / 2;
    }
    return;
  }
  measured_.profile = std::move(fresh);
  profile_count_ = count;
}

void History::reset() {
  const double slack = measured_.slack_ns;
  measured_ = {};
  measured_.slack_ns = slack;
  profile_count_ = latest_even_ns_ = 0;
}

bool History::rebalance() {
  if (!measured_.profile.known()) return false;
  const bool first = measured_.boundaries.empty();
  if (imbalance(measured_.profile, first ? even_parts(threads_) : measured_.boundaries) <= kDeadBand) return false;
  std::vector<double> boundaries = equal_parts(measured_.profile, threads_);
  if (!first) {
    for (std::size_t i = 0; i < boundaries.size(); ++i)
      boundaries[i] = measured_.boundaries[i] + kDamping * (boundaries[i] - measured_.boundaries[i]);
  }
  measured_.boundaries = std::move(boundaries);
  return true;
}

double History::mean_ns_here() const {
  // The recent mean still has much of an earlier run in it, perhaps of another machine.
  if (executions_here() > kept_) return mean_ns_;
  double ns = 0;
  for (int i = 0; i < kept_; ++i) ns += static_cast<double>(last(i).elapsed_ns);
  return kept_ > 0 ? ns / kept_ : 0;
}

const Execution& History::last(int i) const {
  return ring_[static_cast<std::size_t>((newest_ - i % kRing + kRing) % kRing)];
}

int History::kept() const { return kept_; }

double History::scale(std::uint64_t count) const {
  return profile_count_ > 0 ? static_cast<double>(count) / profile_count_ : 0;
}

double History::forecast_even(std::uint64_t count) const {
  const Profile& profile = measured_.profile;
  return profile.known() ? forecast_level(count) * (1 + imbalance(profile, even_parts(threads_))) : 0;
}

double History::latest_even(std::uint64_t count) const {
  return latest_even_ns_ > 0 ? latest_even_ns_ * static_cast<double>(count) : forecast_even(count);
}

double History::forecast_level(std::uint64_t count) const {
  return measured_.profile.known() ? measured_.profile.total() / threads_ * scale(count) : 0;
}

void History::restore(Measured measured, long executions, double mean_ns, double profile_count) {
  measured_ = std::move(measured);
  executions_ = earlier_ = executions;
  mean_ns_ = mean_ns;
  profile_count_ = profile_count;
}

}  // namespace steelyard::loops
