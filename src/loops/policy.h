// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "loops/plan.h"

namespace steelyard::loops {

/// What the policy hears of an execution.
struct Observation {
  double ns = 0;          ///< it took
  double iterations = 0;  ///< it had
  double even_ns = 0;     ///< forecast for even parts that stay; 0: not known
  double level_ns = 0;    ///< forecast for equal work on all threads, all at home; 0: not known
  double stolen = 0;      ///< share of iterations that moved
  double idle = 0;        ///< share of the threads' time
};

/// `auto`: chooses a strategy for a loop that is executed again and again. Fed with each measured execution; pure, no
/// clock.
///
/// There is no blind exploration. It begins with ranges and stealing, which is near the best for most loops, and tries
/// another only where what was measured says that it could be faster: even parts that stay where the forecast for them
/// is close, or the loop is so short that forecasts are rough; adaptive ranges where much moves; guided where threads
/// are idle in spite of stealing. A short loop has even parts without a comparison unless these are forecast to take a
/// quarter longer: nothing else pays. Two warm executions come before that, and of each figure the better one counts:
/// in one of them a thread may have been preempted. At most four are tried, in turns, so that a slow change of the
/// machine hits all alike; one that is far behind is dropped after its first execution. The fastest stays. Where two
/// are as good as each other the one that moves less stays. When the loop changes, all begins anew, a little later each
/// time.
class Policy {
 public:
  static constexpr int kArms = 4;
  static constexpr std::array<Strategy, kArms> arms = {Strategy::even, Strategy::adaptive, Strategy::steal,
                                                       Strategy::guided};
  /// A loop shorter than this has even parts where they are not forecast to be much slower: nothing else pays.
  static constexpr double kShort = 20'000;

  Policy() { restart(); }
  /// Starts with what an earlier run has found best, which is then compared as all others are: that run may have been
  /// noisy.
  explicit Policy(Strategy known) { start_with(known); }

  Strategy next() const { return arms[current_]; }
  /// True where the loop behaves otherwise than before: what was learnt of it should be forgotten.
  bool observe(const Observation& observation);
  bool settled() const { return settled_; }
  /// What a later run should start with: the last choice, while there is none yet that of an earlier run.
  std::optional<Strategy> best() const { return known_; }
  /// What an earlier run has found best, where it comes too late to start with.
  void remember(Strategy known) { known_ = known; }
  /// Why next() is what it is, for the record.
  std::string_view reason() const { return reason_; }
  int resets() const { return resets_; }
  /// What its trials have measured of the choice, beside even parts that stay, or else beside the strategy it began
  /// with.
  struct Gain {
    Strategy against;
    double value;  ///< fraction of the time that it takes less
    double noise;  ///< half width of its band
  };
  /// Nothing where nothing was compared, or not since the loop has changed.
  std::optional<Gain> gain() const;

 private:
  struct Arm {
    bool candidate = false;
    int runs = 0;
    std::array<double, 5> recent = {};  ///< ns an iteration
    double typical() const;             ///< median of the recent ones
    double fastest() const;
    double spread() const;  ///< half the range of the recent ones, as a fraction
    void add(double value);
  };
  void restart();
  void start_with(Strategy known);
  void choose_candidates(const Observation& observation);
  bool is_short(const Observation& observation) const;
  void note_least(const Observation& observation);
  void drop_hopeless();
  void go_on();
  void settle(std::size_t arm, std::string_view reason);
  bool watch(const Observation& observation);

  std::array<Arm, kArms> arm_ = {};
  std::size_t current_ = 2;
  bool settled_ = false;
  bool warm_ = false;
  int looks_ = 0;                  ///< warm executions since it has begun
  Observation least_;              ///< of those, the least of each figure; ns are for one iteration
  std::optional<Strategy> known_;  ///< what was chosen last, by this run or an earlier one
  std::string_view reason_;
  // While settled: what the choice promised, and how often it has not been kept lately.
  double promised_ = 0, noise_ = 0, slow_ = 0;
  int broken_ = 0, quiet_ = 0;
  int resets_ = 0;
  long since_ = 0;
};

}  // namespace steelyard::loops
