// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cmath>
#include <random>
#include <string_view>

namespace steelyard::decide {

/// Kinds of streams of durations with which decisions are tested.
enum class Noise { steady, loud, autocorrelated, heavy_tailed, spikes, bursts, drift };
inline constexpr std::array kNoises = {Noise::steady, Noise::loud,   Noise::autocorrelated, Noise::heavy_tailed,
                                       Noise::spikes, Noise::bursts, Noise::drift};
constexpr std::string_view name(Noise noise) {
  constexpr std::string_view names[] = {"steady", "loud",   "autocorrelated", "heavy_tailed",
                                        "spikes", "bursts", "drift"};
  return names[static_cast<int>(noise)];
}

/// A simulated stream of durations around 1.
class Stream {
 public:
  Stream(Noise noise, int seed) : noise_(noise), random_(static_cast<unsigned>(seed) * 2654435761U + 17) {}
  double next() {
    const double z = normal_(random_);
    ++count_;
    switch (noise_) {
      case Noise::steady: return std::exp(0.01 * z);
      case Noise::loud: return std::exp(0.05 * z);
      case Noise::autocorrelated: state_ = 0.7 * state_ + std::sqrt(1 - 0.49) * z; return std::exp(0.03 * state_);
      case Noise::heavy_tailed: return std::exp(0.02 * z / std::sqrt(gamma_(random_) / 3 * 2));  // Student's t, 3
      case Noise::spikes: return std::exp(0.01 * z) * (uniform_(random_) < 0.05 ? 2 : 1);
      case Noise::bursts:
        if (uniform_(random_) < 0.02) burst_ = 10;
        return std::exp(0.01 * z) * (burst_-- > 0 ? 1.4 : 1);
      case Noise::drift: return std::exp(0.01 * z + 0.3 * std::sin(count_ / 100.0));
    }
    return 1;
  }

 private:
  Noise noise_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  std::gamma_distribution<double> gamma_{1.5, 1};
  double state_ = 0;
  int burst_ = 0, count_ = 0;
};

}  // namespace steelyard::decide
