// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

namespace steelyard::loops {

/// How plain static loops, of one region and with one iteration count, are divided among threads: even parts at first,
/// then parts by what each thread needed for its own. Parts stay as they are for some executions of the region; new
/// ones are tried, and kept only where the loops became faster. Pure: no clock.
class StaticParts {
 public:
  explicit StaticParts(int threads);

  /// Boundaries of the parts in the next execution: fractions of the loop, from 0 to 1, one more than threads.
  const std::vector<double>& boundaries() const { return now_; }
  bool even() const { return now_ == even_; }

  /// An execution has ended. `ns`: by thread, in all these loops. `slowest_ns`: the sum over the loops of the slowest
  /// thread's.
  void executed(std::span<const double> ns, double slowest_ns);

  /// What of the loops' time the parts have saved, by the looks before and after each change that was kept; 0 for even
  /// ones.
  double gain() const { return even() ? 0 : 1 - left_; }

 private:
  static constexpr int kLook = 4;           ///< executions that are looked at together
  static constexpr double kShort = 20'000;  ///< ns: of loops that take less, it is noise that would be balanced
  static constexpr double kWorthIt = 0.03;  ///< of the loops' time, by forecast
  static constexpr double kKept = 0.01;     ///< of it, by measurement
  static constexpr int kFirstRest = 8;      ///< looks after new parts that were not faster; doubled each time

  void look_ends();

  std::vector<double> even_, now_, best_;
  std::vector<std::vector<double>> ns_;  ///< by thread, of this look
  std::vector<double> slowest_;          ///< of this look
  double best_slowest_ = 0;              ///< with the best parts, at the last look
  double left_ = 1;                      ///< of the time with even parts
  int rest_ = 0, next_rest_ = kFirstRest;
  bool warm_ = false;
};

}  // namespace steelyard::loops
