// SPDX-License-Identifier: BSD-3-Clause
#include "cores/estimate.h"

#include <algorithm>
#include <cmath>

#include "cores/policy.h"
#include "cores/trial.h"
#include "decide/estimate.h"

namespace steelyard::cores {
namespace {

constexpr double kSurprise = 4.5;      // standard deviations that are no accident, with dozens of processes and windows
constexpr double kLeastChange = 0.05;  // of the longest process: less than this is no other load
constexpr double kLeastNoise = decide::Settings{}.exploration / kSurprise;  // a change within the budget is no surprise
constexpr std::size_t kRemembered = 2 * Trial::kWindows;  // as many as a move is judged by, before and after it
// Standard deviations by which two windows in a row may miss the mean on one side. Without this, the slow drift of
// policy_test takes 5 % longer (16 seeds); with 3, 0.3 %.
constexpr double kMisfit = 2.5;
constexpr std::size_t kAfterMisfit = decide::kFewest + 1;  // windows that are kept: these two and the one before

/// Follows the spread of `surprise`; a single outlier is clipped as in decide::Estimate.
void widen(double& noise, double surprise, double weight) {
  const double clipped = std::min(std::abs(surprise), decide::Estimate::kClip * noise);
  noise = std::max(kLeastNoise, std::sqrt(noise * noise + weight * (clipped * clipped - noise * noise)));
}

/// s of computing of a process in one step.
double busy_in_a_step(const Window& window, std::size_t process) {
  const ProcessLoad& load = window.loads[process];
  return (region_time(load) + load.serial) / window.steps;
}

}  // namespace

Estimate::News Estimate::add(const Window& window) {
  if (processes_.size() != window.loads.size()) {
    *this = Estimate();
    processes_.resize(window.loads.size());
    scaling_.resize(window.loads.size());
    remember(window);
    return News::steady;
  }
  note_move(window);
  const double weight = std::max(0.1, 1.0 / (2 + windows_seen_++));
  const double common = common_change(window, weight);
  const Fit fit = compare(window, common, weight);
  if (fit.drifts && recent_.size() > kAfterMisfit) recent_.erase(recent_.begin(), recent_.end() - kAfterMisfit);
  if (fit.changed || settling_ > 0) recent_.clear();
  for (Moment& moment : recent_)
    for (std::vector<double>* figures : {&moment.region, &moment.serial, &moment.measured})
      for (double& figure : *figures) figure *= common;
  remember(window);
  if (settling_ == 2) windows_ = 0;
  settling_ = fit.changed ? 0 : std::max(0, settling_ - 1);
  return fit.changed ? News::changed : News::steady;
}

void Estimate::note_move(const Window& window) {
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    if (processes_[p].load.threads == window.loads[p].threads) continue;
    before_move_ = processes_;
    settling_ = 2;
  }
}

double Estimate::common_change(const Window& window, double weight) {
  double seen = 0, expected = 0;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    seen += busy_in_a_step(window, p);
    expected += known()[p].busy();
  }
  const double common = seen > 0 && expected > 0 ? seen / expected : 1;
  if (settling_ > 0) return steady_total() ? 1 : common;
  widen(total_noise_, std::log(common) * std::sqrt(window.steps), weight);
  return common;
}

Estimate::Fit Estimate::compare(const Window& window, double common, double weight) {
  Fit fit;
  for (std::size_t p = 0; p < processes_.size() && reference_ > 0; ++p) {
    const Process& was = known()[p];
    const double now = busy_in_a_step(window, p) / common, off = distance(was, window.loads[p].threads, now);
    const double unit = std::sqrt(1.0 / window.steps + 1 / was.steps);
    const bool is_other_load = std::abs(off) > std::max(kLeastChange, kSurprise * was.noise * unit);
    if (settling_ < 2 && is_other_load) fit.changed = true;
    if (settling_ > 0) continue;

    Process& process = processes_[p];
    const double misses = std::abs(off) > kMisfit * process.noise * unit ? off : 0;
    fit.drifts = fit.drifts || misses * process.missed > 0;
    process.missed = misses;
    if (is_other_load)
      widen(process.noise, off / unit, weight);
    else if (recent_.size() >= 2)
      widen(process.noise, unevenness(p, now, window.steps) / reference_, weight);
  }
  return fit;
}

double Estimate::distance(const Process& was, int threads, double busy) const {
  const double perfect = was.region * was.load.threads / threads;  // no scaling at all leaves it as it was
  const double low = was.serial + std::min(was.region, perfect), high = was.serial + std::max(was.region, perfect);
  return (busy - std::clamp(busy, low, high)) / reference_;
}

double Estimate::unevenness(std::size_t process, double busy, double steps) const {
  const Moment &last = recent_.back(), &last_but_one = recent_[recent_.size() - 2];
  const double bend = busy - 2 * last.busy(process) + last_but_one.busy(process);
  return bend / std::sqrt(1 / steps + 4 / last.steps + 1 / last_but_one.steps);
}

void Estimate::remember(const Window& window) {
  const double steps = window.steps;
  Moment moment{steps, {}, {}, {}};
  for (const ProcessLoad& load : window.loads) {
    moment.region.push_back(region_time(load) / steps);
    moment.serial.push_back(load.serial / steps);
    moment.measured.push_back((measured_busy(load) - load.serial) / steps);
  }
  recent_.push_back(std::move(moment));
  if (recent_.size() > kRemembered) recent_.pop_front();
  windows_ = static_cast<int>(recent_.size());
  steps_on_record_ = 0;
  for (const Moment& each : recent_) steps_on_record_ += each.steps;

  reference_ = 0;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    Process& process = processes_[p];
    process.load = window.loads[p];
    process.region = mean(&Moment::region, p);
    process.serial = mean(&Moment::serial, p);
    process.borrowed = process.region > 0 ? std::min(1.0, mean(&Moment::measured, p) / process.region) : 1;
    process.steps = steps_on_record_;
    reference_ = std::max(reference_, process.busy());
  }
}

double Estimate::mean(std::vector<double> Moment::* figure, std::size_t process) const {
  double sum = 0;
  for (const Moment& moment : recent_) sum += moment.steps * (moment.*figure)[process];
  return sum / steps_on_record_;
}

std::vector<ProcessLoad> Estimate::loads() const {
  std::vector<ProcessLoad> loads;
  for (const Process& process : processes_) {
    ProcessLoad load = process.load;
    load.region_wall = process.region * process.borrowed;
    load.parallel = process.region * load.threads;
    load.serial = process.serial;
    loads.push_back(load);
  }
  return loads;
}

std::vector<ProcessLoad> Estimate::newest() const {
  std::vector<ProcessLoad> loads;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    ProcessLoad load = processes_[p].load;
    load.region_wall = recent_.back().region[p];
    load.parallel = load.region_wall * load.threads;
    load.serial = recent_.back().serial[p];
    loads.push_back(load);
  }
  return loads;
}

double Estimate::noise() const {
  double most = 0;
  for (const Process& process : processes_) most = std::max(most, process.noise * std::sqrt(2 / process.steps));
  return most;
}

double Estimate::step_noise() const {
  double most = 0;
  for (const Process& process : processes_) most = std::max(most, process.noise);
  return std::hypot(most, total_noise_);
}

bool Estimate::steady_total() const { return total_noise_ < kLeastChange; }

void Estimate::learn_scaling(const std::vector<ProcessLoad>& before) {
  for (std::size_t p = 0; p < before.size(); ++p) {
    const Process& process = processes_[p];
    std::vector<double> regions;
    for (const Moment& moment : recent_) regions.push_back(moment.region[p]);
    const auto middle = regions.begin() + static_cast<std::ptrdiff_t>(regions.size() / 2);
    std::nth_element(regions.begin(), middle, regions.end());  // one disturbed window must not spoil it
    const double was = region_time(before[p]), is = *middle;
    if (before[p].threads == process.load.threads || std::min(was, is) < kLeastChange * reference_) continue;
    const double ratio = std::log(static_cast<double>(process.load.threads) / before[p].threads);
    const double seen = std::log(was / is) / ratio;
    const double error = process.noise * reference_ / is * std::sqrt(2 / process.steps) / ratio;
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
