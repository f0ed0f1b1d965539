// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <vector>

#include "decide/estimate.h"
#include "decide/settings.h"

namespace steelyard::decide {

/// What a contest knows of a candidate.
struct Candidate {
  bool eliminated = false;
  bool omitted = false;   ///< by the survey
  bool outdated = false;  ///< the leader's duration has changed since `guess` was measured
  bool surveyed = true;   ///< no execution but that of the survey is known
  double guess = 0;       ///< log duration over the leader's: the last that is known
  Estimate duration;      ///< log
  Estimate ratio;         ///< log duration over the leader's, paired
  Interval last;          ///< of the ratio, when it was eliminated
};

/// Finds the fastest of some candidates for work that is executed again and again. Candidate 0 is the program's own
/// behaviour.
///
/// 1. Survey: each candidate is executed once, after one execution that only warms caches. The fastest leads, or the
///    program's own behaviour if the fastest gains no more than the exploration budget over it.
/// 2. Trials: a rival is executed between executions of the leader, and its log duration is compared with the mean of
///    those before and after it, so slow changes of the machine cancel. The first execution after each change of
///    candidate meets other caches and does not count. A rival that the survey found slower waits until the leader's
///    noise is known. This noise is the prior of the ratio, so that two trials decide about a rival that is clearly
///    slower. A rival takes the lead if the confidence interval of the ratio lies on its side; it leaves if the
///    interval shows that it can gain no more than the exploration budget (successive elimination, Even-Dar et al.
///    2006). The error is shared among the rivals.
/// 3. Budget: the exploration budget, a share of all durations so far, plus a loan of kLoan executions of the leader. A
///    trial begins only if its expected cost beyond the leader's time, from the rival's last known ratio, is within
///    what is left; then its measured cost is charged. So the expected cost is bounded. The true cost is not: a rival
///    may have become slower since, and a trial's longest execution is charged with at most Estimate::kClip standard
///    deviations more than its second longest, since a hiccup of the machine is no cost of the rival. The survey comes
///    on top, and so do executions of a leader that is wrong. In 2,000 simulated executions (StaysWithinItsBudget of
///    contest_test.cpp), the mean cost of all this is within budget and survey for each kind of noise. The worst of 200
///    runs exceeds them by 0.4 % of the executions, and by 3 % in a stream with spikes.
/// 4. Watch: a change of the leader's duration, by a cumulative sum of residuals (CUSUM, Page 1954), reopens the
///    contest. A rival whose trial its old ratio makes too expensive is then executed once, as in the survey, as soon
///    as that is within the budget. If the reopening gains nothing, the pause before the next one doubles. If the first
///    trial after a change shows a gain that the leader's noise before the change excludes, its rival takes the lead at
///    once; the former leader is tried again, within the budget.
///
/// The same durations give the same choices in every process. Not thread-safe.
///
/// Contest has any number of candidates. Duel has two, and no memory of its own, so it may lie in shared memory.
template <class Candidates>
class BasicContest {
 public:
  /// Executions of the leader. Without it a contest of tens of executions could not try anything: one per cent of them
  /// is less than one execution.
  static constexpr double kLoan = 10;
  /// Executions after an opening before the next; doubled each time that an opening gains nothing.
  static constexpr long kPause = 16;

  /// @param candidates at least 1
  /// @param first begins, e.g. the leader of an earlier run
  BasicContest(int candidates, Settings settings, int first = 0);

  /// Opens the contest with other candidates. The budget that was spent and the pause of the watch stay.
  void restart(int candidates, int first);

  /// The candidate of the next execution.
  int next() const { return current_; }
  /// The next execution only warms caches, so it may be short: how long it takes does not count.
  bool warms_up() const { return step_ == Step::warm_up || (cold_ && step_ != Step::survey); }
  /// The best candidate so far.
  int leader() const { return leader_; }
  /// True if the next execution is not a trial and no rival is left that could be tried within the budget.
  bool settled() const { return step_ == Step::lead && rival() < 0; }
  /// @param duration of the execution of next(), in any unit that is the same for all executions. One that is not
  ///   positive and finite is ignored.
  /// @return true if the leader's duration has changed and the contest was reopened
  bool measured(double duration);
  /// The execution of next() cannot take place now. Ends its trial; the leader is next. The survey omits it. It can be
  /// tried again later.
  void abandon();
  /// Executions of the leader that were not measured: the budget grows with them.
  /// @param duration of all of them, in the same unit
  void unmeasured(double duration) { total_ += duration; }

  /// Typical duration: the geometric mean, disturbed executions clipped. 0 without an execution.
  double typical(int candidate) const;
  /// What the leader gains over a candidate: a fraction of the candidate's duration, with its interval. Infinite bounds
  /// where the two were not compared often enough.
  struct Gain {
    double value = 0;
    Interval interval;
  };
  Gain gain_over(int candidate) const;

 private:
  enum class Step : unsigned char { warm_up, survey, lead, trial, back, probe };
  const Candidate& at(int candidate) const { return candidates_[static_cast<std::size_t>(candidate)]; }
  Candidate& at(int candidate) { return candidates_[static_cast<std::size_t>(candidate)]; }

  void count(int candidate, double log_duration);
  void survey(double log_duration);
  void next_of_survey();
  void lead(int candidate);
  double budget_left() const;
  double cost(int rival, int executions) const;
  int rival() const;
  bool noise_is_known() const;
  bool worth_a_trial_now(int rival) const;
  void begin_trial(int rival);
  void end_trial(double after);
  void end_probe(double log_duration);
  void back_to_leader(bool cold);
  bool stands_out(double ratio) const;
  void promote(int rival);
  bool watch(double log_duration);
  void open();
  void reopen();
  double each_confidence() const;

  Settings settings_;
  Candidates candidates_;
  int current_ = 0, leader_ = 0, challenger_ = -1;
  Step step_ = Step::lead;
  bool cold_ = false;                        ///< the next execution is the first after a change
  double total_ = 0, lost_ = 0;              ///< durations: of all executions, and in trials beyond the leader's
  double before_ = 0;                        ///< log: the leader's last execution that counts
  double trial_ = 0;                         ///< log: the rival's since
  double trial_time_ = 0;                    ///< of all executions of this trial
  double longest_ = 0, second_longest_ = 0;  ///< of these
  // The watch.
  Estimate reference_;              ///< log duration of the leader since it leads or has last changed
  Estimate before_change_;          ///< the same before the last change of this leader
  double slower_ = 0, faster_ = 0;  ///< the cumulative sums, in standard deviations
  double alarm_;                    ///< the sum at which the duration has changed
  int opened_with_ = 0;             ///< the leader when the contest was last opened
  long since_ = 0;                  ///< executions since then
  long pause_;                      ///< executions before it may be opened again
  bool gained_ = false;             ///< another leader has proved to be faster since it was last opened
  bool changed_ = false;            ///< the leader's duration has changed, perhaps during a pause
};

using Contest = BasicContest<std::vector<Candidate>>;
using Duel = BasicContest<std::array<Candidate, 2>>;
extern template class BasicContest<std::vector<Candidate>>;
extern template class BasicContest<std::array<Candidate, 2>>;

}  // namespace steelyard::decide
