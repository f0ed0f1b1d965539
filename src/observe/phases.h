#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace steelyard::observe {

/// Finds the step of a program from the sequence of what it does: fed with the identity of each tick (the call site of a
/// collective, or of a region), it tells how many ticks make one step. Pure but for its own state; O(1) amortised a tick.
class PeriodFinder {
 public:
  /// `site` identifies the caller. Programs with up to `longest` ticks a step are recognised.
  explicit PeriodFinder(int longest = 256);
  void tick(std::uint64_t site);
  /// Ticks per step: the smallest period of which at least three repeats were just seen (set-up code before and a
  /// differing step now and then are forgiven); 0 while none is known.
  int period() const;

 private:
  struct State;
  int longest_;
  std::deque<std::uint64_t> recent_;
  int period_ = 0;
};

}  // namespace steelyard::observe
