#include "cores/estimate.h"

#include <algorithm>
#include <cmath>

#include "cores/policy.h"

namespace steelyard::cores {
namespace {

constexpr double kSurprise = 4.5;      // standard deviations that are no accident, with dozens of processes and windows
constexpr double kLeastChange = 0.05;  // of the longest process: less than this is no other load
constexpr double kLeastNoise = 0.002;  // clocks and the scheduler alone make this much
constexpr double kLeastWeight = 0.2;   // of the newest window: slow drift is followed
constexpr int kTrendWindows = 8;       // a slope that points the same way for so long is a trend

/// Follows the spread of `surprise`; a single outlier counts as three standard deviations at most.
void widen(double& noise, double surprise, double weight) {
  const double clipped = std::min(std::abs(surprise), 3 * noise);
  noise = std::max(kLeastNoise, std::sqrt(noise * noise + weight * (clipped * clipped - noise * noise)));
}

}  // namespace

double Estimate::longest() const {
  double busy = 0;
  for (const Process& process : processes_) busy = std::max(busy, process.region + process.serial);
  return busy;
}

Estimate::News Estimate::add(const Window& window) {
  const std::size_t n = window.loads.size();
  if (processes_.size() != n) {
    *this = Estimate();
    processes_.resize(n);
    scaling_.resize(n);
    restart(window);
    windows_ = 1;
    return News::steady;
  }
  bool moved = false;
  for (std::size_t p = 0; p < n; ++p) moved = moved || processes_[p].load.threads != window.loads[p].threads;
  if (moved) {
    before_move_ = processes_;
    settling_ = 2;
  }

  const double phases = window.phases, gap = (phases_ + phases) / 2;
  std::vector<double> busy(n);
  double seen = 0, expected = 0, reference = 0;
  for (std::size_t p = 0; p < n; ++p) {
    busy[p] = (region_time(window.loads[p]) + window.loads[p].serial) / phases;
    processes_[p].region = std::max(0.0, processes_[p].region + processes_[p].slope * gap);
    seen += busy[p];
    expected += processes_[p].region + processes_[p].serial;
  }
  double common = seen > 0 && expected > 0 ? seen / expected : 1;
  const double weight = std::max(0.1, 1.0 / (2 + windows_seen_++));
  if (settling_ == 0)
    widen(total_noise_, std::log(common) * std::sqrt(phases), weight);
  else if (steady_total())
    common = 1;
  for (Process& process : settling_ > 0 ? before_move_ : processes_) {
    process.region *= common;
    process.serial *= common;
    process.slope *= common;
    reference = std::max(reference, process.region + process.serial);
  }

  bool changed = false;
  for (std::size_t p = 0; p < n && reference > 0; ++p) {
    const Process& known = settling_ > 0 ? before_move_[p] : processes_[p];
    const double off = surprise(known, window.loads[p], busy[p]) / reference;
    if (settling_ < 2 && std::abs(off) > std::max(kLeastChange, kSurprise * known.noise / std::sqrt(phases)))
      changed = true;
    if (settling_ == 0) widen(processes_[p].noise, off * std::sqrt(phases), weight);
  }

  if (changed || settling_ > 0) {
    restart(window);
    windows_ = settling_ == 2 ? 0 : 1;
    settling_ = changed ? 0 : settling_ - 1;
  } else {
    const double trust = windows_ == 0 ? 1 : variance_ / (variance_ + 1 / phases);
    follow(window, std::max(kLeastWeight, trust));
  }
  phases_ = phases;
  return changed ? News::changed : News::steady;
}

double Estimate::surprise(const Process& process, const ProcessLoad& seen, double busy) const {
  const double as_was = process.region;
  const double perfect = as_was * process.load.threads / std::max(1, seen.threads);
  const double low = process.serial + std::min(as_was, perfect), high = process.serial + std::max(as_was, perfect);
  return busy - std::clamp(busy, low, high);
}

void Estimate::restart(const Window& window) {
  for (Process& process : processes_) process.slope = process.same_way = 0;
  follow(window, 1);
  variance_ = 1.0 / window.phases;
  phases_ = window.phases;
}

void Estimate::follow(const Window& window, double weight) {
  const double phases = window.phases, gap = (phases_ + phases) / 2;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    Process& process = processes_[p];
    const ProcessLoad& load = window.loads[p];
    const double region = region_time(load), off = region / phases - process.region;
    process.region += weight * off;
    process.serial += weight * (load.serial / phases - process.serial);
    process.borrowed += weight * ((region > 0 && load.region_wall > 0 ? load.region_wall / region : 1) - process.borrowed);
    process.load = load;
    if (weight < 1) {
      const double slope = process.slope + 0.2 * weight * off / gap;
      process.same_way = slope * process.slope > 0 ? process.same_way + 1 : 0;
      process.slope = slope;
    }
  }
  variance_ = (1 - weight) * (1 - weight) * variance_ + weight * weight / phases;
  ++windows_;
}

std::vector<ProcessLoad> Estimate::loads(double ahead) const {
  std::vector<ProcessLoad> loads;
  const double reference = longest();
  for (const Process& process : processes_) {
    double region = process.region;
    const double drift = std::clamp(process.slope * ahead, -0.3 * region, 0.3 * region);
    const bool trend = process.same_way >= kTrendWindows &&
                       std::abs(drift) > 2 * process.noise * reference * std::sqrt(variance_);
    if (trend) region += drift;
    ProcessLoad load = process.load;
    load.region_wall = region * process.borrowed;
    load.parallel = region * load.threads;
    load.serial = process.serial;
    loads.push_back(load);
  }
  return loads;
}

double Estimate::most_noise() const {
  double most = 0;
  for (const Process& process : processes_) most = std::max(most, process.noise);
  return most;
}

double Estimate::noise() const { return most_noise() * std::sqrt(2 * variance_); }

double Estimate::phase_noise() const { return std::hypot(most_noise(), total_noise_); }

bool Estimate::steady_total() const { return total_noise_ < 0.06; }

void Estimate::learn_scaling(const std::vector<ProcessLoad>& before) {
  const double reference = longest();
  for (std::size_t p = 0; p < before.size(); ++p) {
    const Process& process = processes_[p];
    const double was = region_time(before[p]), is = process.region;
    if (before[p].threads == process.load.threads || std::min(was, is) < 0.05 * reference) continue;
    const double ratio = std::log(static_cast<double>(process.load.threads) / before[p].threads);
    const double seen = std::log(was / is) / ratio;
    const double error = process.noise * reference / is * 2 * std::sqrt(variance_) / ratio;
    const double variance = error * error + 0.01;
    for (std::size_t q = 0; q < processes_.size(); ++q) {  // Processes of one program scale much alike.
      double& prior = processes_[q].scaling_variance;
      const double doubt = q == p ? variance : variance + 0.1;
      const double share = prior / (prior + doubt);
      scaling_[q].alpha = std::clamp(scaling_[q].alpha + share * (seen - scaling_[q].alpha), 0.0, 1.0);
      prior = std::max(0.01, prior * (1 - share));
    }
  }
}

}  // namespace steelyard::cores
