// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "decide/forecast.h"
#include "decide/settings.h"

namespace steelyard::loops {

/// How plain static loops, of one region and with one iteration count, are divided among threads: even parts at first,
/// then parts by what each thread needed for its own. New parts are kept only if the loops became faster
/// (decide/forecast.h). Pure: no clock.
class StaticParts {
 public:
  explicit StaticParts(int threads);

  /// Boundaries of the parts in the next execution: fractions of the loop, from 0 to 1, one more than threads.
  const std::vector<double>& boundaries() const { return now_; }
  bool even() const { return now_ == even_; }

  /// An execution has ended. `ns`: by thread, in all these loops. `slowest_ns`: the sum over the loops of the slowest
  /// thread's.
  void executed(std::span<const double> ns, double slowest_ns);

  /// What of the loops' time the parts have saved, by the forecasts that were confirmed; 0 for even ones.
  double gain() const { return even() ? 0 : 1 - left_; }

 private:
  static constexpr int kLook = 8;       ///< executions that are looked at together, and of a trial the most: 2 * kLook
  static constexpr int kFirstRest = 8;  ///< looks after new parts that were not faster; doubled each time

  void judge();
  void look();
  void take(std::vector<double> parts);

  std::vector<double> even_, now_, best_;
  std::vector<std::vector<double>> ns_;       ///< by thread, of this look
  std::vector<double> slowest_;               ///< of this look
  std::optional<decide::Forecast> forecast_;  ///< of the parts that are tried
  double left_ = 1;                           ///< of the time with even parts
  int rest_ = 0, next_rest_ = kFirstRest;
  bool cold_ = true;  ///< the next execution is the first, or the first with other parts
};

}  // namespace steelyard::loops
