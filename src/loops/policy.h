// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "decide/contest.h"
#include "loops/plan.h"

namespace steelyard::loops {

/// What was measured of one execution.
struct Observation {
  double ns = 0;  ///< its duration
  double iterations = 0;
  double even_ns = 0;   ///< forecast for even parts without stealing; 0: not known
  double level_ns = 0;  ///< forecast for equal work on all threads, each with its own data; 0: not known
  double stolen = 0;    ///< share of iterations that moved
  double idle = 0;      ///< share of the threads' time
};

/// `auto`: chooses a strategy for a loop that is executed again and again. Fed with each measured execution; pure, no
/// clock.
///
/// It begins with ranges and stealing. After two executions it knows which other strategies could be faster:
/// - even parts if their forecast is close, or if the loop is so short that forecasts are rough,
/// - adaptive ranges if many iterations move,
/// - guided if threads are idle in spite of stealing.
///
/// These strategies are the candidates of a contest (decide/contest.h). A short loop has even parts without a contest
/// unless these are forecast to take a quarter longer. If the loop changes, the policy begins anew.
class Policy {
 public:
  static constexpr std::array candidates = {Strategy::even, Strategy::adaptive, Strategy::steal, Strategy::guided};
  static constexpr std::size_t kCandidates = candidates.size();
  /// ns. A shorter loop has even parts unless these are forecast to be much slower: taking chunks costs more than it
  /// saves (`bench/loops.py`, rows of 10 us).
  static constexpr double kShort = 20'000;

  /// A forecast or a few executions are rough: so many times longer is longer.
  static constexpr double kLonger = 1.25;

  /// @param known the best strategy of an earlier run: the policy starts with it, and compares it as all others
  explicit Policy(const decide::Settings& settings, std::optional<Strategy> known = {});

  Strategy next() const { return candidates[current()]; }
  /// @return true if the loop's time has changed; what was learnt of it should be forgotten
  bool observe(const Observation& observation);
  bool settled() const { return step_ == Step::is_short || (step_ == Step::contest && contest_.settled()); }
  /// What a later run should start with: the leader of the contest; before the contest, the best of an earlier run.
  std::optional<Strategy> best() const { return known_; }
  /// The best strategy of an earlier run, if it comes too late to start with.
  void remember(Strategy known) { known_ = known; }
  /// Why next() is what it is, once settled(): for the record.
  std::string_view reason() const;
  int resets() const { return resets_; }
  /// What the trials have measured of the choice, beside even parts, or else beside ranges and stealing.
  struct Gain {
    Strategy against;
    double value;               ///< fraction of the time
    decide::Interval interval;  ///< of it, at the level of decide::Settings
  };
  /// Nothing if too little was compared.
  std::optional<Gain> gain() const;

 private:
  enum class Step { warm_up, look, is_short, contest };
  void restart();
  void start_with(Strategy known);
  void look(const Observation& observation);
  void begin_contest(const Observation& observation);
  bool is_short(const Observation& observation) const;
  void note_least(const Observation& observation);
  bool has_grown(const Observation& observation);
  bool begin_anew();
  std::size_t current() const {
    return step_ == Step::contest ? in_contest_[static_cast<std::size_t>(contest_.next())] : first_;
  }

  Step step_ = Step::warm_up;
  std::size_t first_ = 2;    ///< the candidate before the contest
  int looks_ = 0;            ///< warm executions since it has begun
  Observation least_;        ///< of those, the least of each figure; ns are for one iteration
  decide::Contest contest_;  ///< of these:
  std::vector<std::size_t> in_contest_;
  std::optional<Strategy> known_;  ///< the last leader, of this run or an earlier one
  int uneven_ = 0;                 ///< executions of a short loop in a row that were not level
  long since_ = 0;                 ///< executions of a short loop
  int resets_ = 0;
};

}  // namespace steelyard::loops
