// SPDX-License-Identifier: BSD-3-Clause
#include "cores/trial.h"

#include <algorithm>
#include <cmath>

#include "cores/policy.h"

namespace steelyard::cores {
namespace {

constexpr std::size_t kRemembered = 8;
constexpr std::size_t kLeastWindows = 2;
constexpr std::size_t kMostWindows = 8;  // then a ruling is made whatever the noise

double middle(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2) return *half;
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

}  // namespace

void Spell::add(const Window& window) {
  double computing = 0, cores = 0;
  for (const ProcessLoad& load : window.loads) {
    computing += load.threads * measured_busy(load);
    cores += load.threads;
  }
  samples_.push_back({window.elapsed / window.phases, computing / (cores * window.elapsed), window.phases});
  if (samples_.size() > kRemembered) samples_.pop_front();
}

int Spell::phases() const {
  int sum = 0;
  for (const Sample& sample : samples_) sum += sample.phases;
  return sum;
}

Spell::Figure Spell::median(double Sample::* figure, double noise) const {
  if (samples_.empty()) return {};
  std::vector<double> values, distances;
  for (const Sample& sample : samples_) values.push_back(sample.*figure);
  const double value = middle(values);
  for (double other : values) distances.push_back(std::abs(other - value));
  const double spread = values.size() < 4 ? 0 : 1.48 * middle(distances) / std::sqrt(values.size());
  return {value, 1.25 * std::max(spread, value * noise / std::sqrt(phases()))};
}

Spell::Figure Spell::elapsed(double noise) const { return median(&Sample::elapsed, noise); }
Spell::Figure Spell::efficiency(double noise) const { return median(&Sample::efficiency, noise); }

Trial::Judgement Trial::judge(bool steady_total, double noise) const {
  if (after.windows() < kLeastWindows || before.windows() == 0) return {};
  const auto [low, high] = steady_total ? std::pair(after.elapsed(noise), before.elapsed(noise))
                                        : std::pair(before.efficiency(noise), after.efficiency(noise));
  if (low.value <= 0 || high.value <= 0) return {};
  Judgement judgement;
  judgement.gain = 1 - low.value / high.value;
  judgement.noise = 2 * low.value / high.value * std::hypot(low.error / low.value, high.error / high.value);
  const bool above_noise = judgement.gain > judgement.noise;
  const bool clear = judgement.noise < forecast / 3 || after.windows() >= kMostWindows;
  if (above_noise || (clear && judgement.gain >= forecast / 3))
    judgement.ruling = Ruling::helped;
  else if (clear || judgement.gain < -judgement.noise)
    judgement.ruling = Ruling::failed;
  return judgement;
}

}  // namespace steelyard::cores
