// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "collectives/soga.h"
#include "collectives/virtual_ranks.h"
#include "decide/settings.h"

// From measured waits to a virtual rank table: pure functions, without clock, messages or environment.
namespace steelyard::collectives {

enum class Policy { swap, sort, binomial, soga };

struct Settings {
  Policy policy = Policy::sort;
  int every = 16;                   ///< N: broadcasts from one plan to the next, to begin with
  std::int64_t threshold = 50'000;  ///< ns: changes of a wait, and latenesses, below it are noise
  decide::Settings decision;        ///< of the comparison with the MPI library
};

/// Settings::every times so many: while nothing is to be changed, the pauses between plans double up to this length.
inline constexpr int kMostPatience = 8;

/// What a rank measures in a broadcast, in ns. Both are 0 at the root.
struct Measured {
  std::int64_t wait = 0;  ///< from its call to the data: long for a rank that arrives early
  std::int64_t late = 0;  ///< from when the data could have been there to its call; negative if it called earlier
};

/// At a rank: whether a measurement is told to the optimiser.
class Reporter {
 public:
  explicit Reporter(const Settings& settings) : settings_(settings), soga_(settings.threshold) {}
  /// Adds one broadcast. True if value() has changed by more than the threshold since it was last reported: it is to be
  /// reported.
  bool measured(const Measured& measured);
  /// value() has been reported.
  void reported() {
    told_ = value_;
    soga_.reported();
  }
  /// `swap`, `soga`: the last wait, as in the paper. `sort`: the lateness, smoothed, never negative.
  std::int64_t value() const { return settings_.policy == Policy::soga ? soga_.value() : value_; }

 private:
  Settings settings_;
  soga::Reporter soga_;
  std::int64_t value_ = 0;
  std::int64_t told_ = 0;
};

/// The next table, and the number of broadcasts until the next plan.
struct Plan {
  bool changed = false;
  std::vector<int> ranks;  ///< by position, where changed
  int next = 1;
};

/// At the rank that optimises: what the ranks have reported, and the plan that follows from it.
class Optimiser {
 public:
  Optimiser(int size, const Settings& settings);
  void report(int rank, std::int64_t value);
  /// By the reports, some rank is late. Has no meaning for Policy::swap.
  bool any_rank_late() const;
  /// The position of `root` stays. Doubles the period, up to kMostPatience times N, while nothing is to be changed,
  /// here or elsewhere (`other`).
  Plan plan(const VirtualRanks& table, int root, bool other = false);

 private:
  bool exchange(VirtualRanks& table, int root) const;  // Soga et al.: the longest waiter for the shortest
  bool sort(VirtualRanks& table, int root) const;

  Settings settings_;
  int next_;
  std::vector<std::int64_t> known_;  // by rank
};

}  // namespace steelyard::collectives
