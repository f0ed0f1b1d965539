// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steelyard::observe {

/// Finds how many ticks make one step of a program: the period of the sequence of call sites of its collectives or
/// regions. No clock, no MPI. O(1) amortised for each tick.
class PeriodFinder {
 public:
  /// `site` identifies the caller. Programs with up to `longest` ticks a step are recognised.
  explicit PeriodFinder(int longest = 256);
  void tick(std::uint64_t site);
  /// Ticks per step: the smallest period of which at least three repeats were just seen (set-up code before and a
  /// differing step now and then are forgiven); 0 while none is known.
  int period() const { return static_cast<int>(period_); }

 private:
  std::size_t shortest_up_to(std::size_t longest);
  bool fits(std::size_t period, std::size_t length);
  void adopt(std::size_t period);
  void judge();
  void drop();
  int full_trust() const;

  std::size_t longest_;
  std::vector<std::uint64_t> recent_;  // the latest last
  std::vector<std::size_t> evidence_;  // by period: repeats beyond the first that it takes to believe in it
  std::size_t period_ = 0;
  std::size_t held_ = 0;   // ticks since the period was adopted
  int trust_ = 0;          // falls with a tick that does not fit, rises with one that does
  std::size_t clean_ = 0;  // ticks since the last tick that did not fit
  std::size_t work_ = 0;   // comparisons made and not yet spread over ticks
};

}  // namespace steelyard::observe
