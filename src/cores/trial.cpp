// SPDX-License-Identifier: BSD-3-Clause
#include "cores/trial.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cores/policy.h"

namespace steelyard::cores {
namespace {

// Windows that the noise of a step is worth, because it was measured in all steps before: with 10, two windows that
// agree confirm a gain of five times the noise, and refute one that was a loss of six times the noise (trial_test).
constexpr double kNoiseWeight = 10;

/// Log duration of a window; of one without a steady load, the cores' time for the same amount of computing.
double log_duration(const Spell::Sample& sample, bool steady_total) {
  const double value = steady_total ? sample.elapsed : 1 / sample.efficiency;
  return std::log(std::clamp(value, std::numeric_limits<double>::min(), std::numeric_limits<double>::max()));
}

/// Standard deviation of a window, from that of one step.
double deviation(const Spell& spell, double noise) {
  double steps = 0;
  for (const Spell::Sample& sample : spell.samples()) steps += sample.steps;
  return noise / std::sqrt(steps / static_cast<double>(spell.windows()));
}

}  // namespace

void Spell::add(const Window& window) {
  double computing = 0, cores = 0;
  for (const ProcessLoad& load : window.loads) {
    computing += load.threads * measured_busy(load);
    cores += load.threads;
  }
  samples_.push_back({window.elapsed / window.steps, computing / (cores * window.elapsed), window.steps});
  if (samples_.size() > Trial::kWindows) samples_.pop_front();
}

double Spell::elapsed() const {
  double sum = 0;
  for (const Sample& sample : samples_) sum += log_duration(sample, true);
  return samples_.empty() ? 0 : std::exp(sum / static_cast<double>(samples_.size()));
}

Trial::Judgement Trial::judge(bool steady_total, double noise) const {
  const bool last = after.windows() >= kWindows;
  if (before.windows() < decide::kFewest) return {.ruling = last ? Ruling::kept : Ruling::open};
  if (after.windows() == 0) return {};
  decide::Estimate known(deviation(before, noise), kNoiseWeight);
  for (const Spell::Sample& sample : before.samples()) known.add(log_duration(sample, steady_total));
  decide::Forecast since(forecast, known, deviation(after, noise), kNoiseWeight);
  for (const Spell::Sample& sample : after.samples()) since.add(log_duration(sample, steady_total));

  Judgement judgement;
  judgement.gain = since.gain();
  const decide::Interval interval = since.interval(confidence);
  judgement.interval = {std::max(-1.0, interval.low), std::min(1.0, interval.high)};
  const decide::Forecast::Result result = since.result(confidence);
  if (result == decide::Forecast::Result::confirmed) {
    judgement.ruling = Ruling::helped;
  } else if (last || (result == decide::Forecast::Result::refuted && judgement.gain <= 0)) {
    // Less than forecast may still be a gain: going back would lose what the best guess says that it gains.
    judgement.ruling = judgement.gain > 0 ? Ruling::kept : Ruling::failed;
  }
  return judgement;
}

}  // namespace steelyard::cores
