// SPDX-License-Identifier: BSD-3-Clause
#include "decide/contest.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace steelyard::decide {
namespace {

// CUSUM in standard deviations of the leader's log duration: residuals below kDrift do not add up. Half a deviation is
// the best value for finding a change of one deviation (Page 1954).
constexpr double kDrift = 0.5;
// Executions of the leader from which its mean and deviation are known before they are watched. Half of the shortest
// pause: the other half remains for finding a change before the contest may be opened again. Later executions refine
// both (a self-starting CUSUM, Hawkins 1987).
constexpr long kReference = Contest::kPause / 2;
constexpr long kLongestPause = Contest::kPause << 12;

/// The sum at which CUSUM raises an alarm, from Siegmund's approximation of its average run length (1985): 20,000
/// executions from one false alarm to the next by default. If each cost the loan, they would take the share of the
/// default budget that the confidence leaves to errors.
double alarm(double confidence) {
  const double run_length = Contest::kLoan / (Settings{}.exploration * (1 - confidence));
  return std::log(2 * kDrift * kDrift * run_length + 1) / (2 * kDrift) - 1.166;
}

}  // namespace

template <class Candidates>
BasicContest<Candidates>::BasicContest(int candidates, Settings settings, int first)
    : settings_(settings), alarm_(alarm(settings.confidence)), pause_(kPause) {
  restart(candidates, first);
}

template <class Candidates>
void BasicContest<Candidates>::restart(int candidates, int first) {
  if constexpr (requires { candidates_.resize(1); }) candidates_.resize(static_cast<std::size_t>(candidates));
  std::ranges::fill(candidates_, Candidate{});
  open();
  opened_with_ = first;
  lead(first);
  if (candidates > 1) step_ = Step::warm_up;
}

template <class Candidates>
double BasicContest<Candidates>::typical(int candidate) const {
  return at(candidate).duration.count() > 0 ? std::exp(at(candidate).duration.mean()) : 0;
}

template <class Candidates>
typename BasicContest<Candidates>::Gain BasicContest<Candidates>::gain_over(int candidate) const {
  if (candidate == leader_) return {0, {0, 0}};
  const Candidate& it = at(candidate);
  const Interval ratio = it.eliminated ? it.last : it.ratio.interval(settings_.confidence);
  return {1 - std::exp(-it.guess), {1 - std::exp(-ratio.low), 1 - std::exp(-ratio.high)}};
}

template <class Candidates>
bool BasicContest<Candidates>::measured(double duration) {
  if (!(duration > 0) || !std::isfinite(duration)) return false;
  const double log_duration = std::log(duration);
  total_ += duration;
  trial_time_ += duration;
  second_longest_ = std::max(second_longest_, std::min(longest_, duration));
  longest_ = std::max(longest_, duration);
  ++since_;
  if (step_ == Step::warm_up) {
    step_ = Step::survey;
    return false;
  }
  if (step_ == Step::survey) {
    survey(log_duration);
    return false;
  }
  if (step_ == Step::probe) {
    end_probe(log_duration);
    return false;
  }
  if (std::exchange(cold_, false)) return false;
  count(current_, log_duration);
  if (step_ == Step::trial) {
    trial_ = log_duration;
    back_to_leader(true);
    step_ = Step::back;
    return false;
  }
  if (step_ == Step::back) {
    // The next trial is compared with executions of its own: trials that share one are not independent.
    end_trial(log_duration);
    return false;
  }
  before_ = log_duration;
  const bool changed = watch(log_duration);
  if (const int challenger = rival(); challenger >= 0 && worth_a_trial_now(challenger)) begin_trial(challenger);
  return changed;
}

// A duration of the survey was the first after a change: it counts until there is another.
template <class Candidates>
void BasicContest<Candidates>::count(int candidate, double log_duration) {
  Candidate& it = at(candidate);
  if (std::exchange(it.surveyed, false)) it.duration = Estimate();
  it.duration.add(log_duration);
}

template <class Candidates>
void BasicContest<Candidates>::survey(double log_duration) {
  at(current_).duration.add(log_duration);
  next_of_survey();
}

template <class Candidates>
void BasicContest<Candidates>::next_of_survey() {
  const auto seen = [](const Candidate& it) { return it.duration.count() > 0; };
  const auto next = std::ranges::find_if(candidates_, [&](const Candidate& it) { return !seen(it) && !it.omitted; });
  if (next != candidates_.end()) {
    current_ = static_cast<int>(next - candidates_.begin());
    return;
  }
  int fastest = -1;
  for (int i = 0; i < static_cast<int>(candidates_.size()); ++i) {
    if (seen(at(i)) && (fastest < 0 || at(i).duration.mean() < at(fastest).duration.mean())) fastest = i;
  }
  if (fastest < 0) {
    lead(opened_with_);
    return;
  }
  const double least = at(fastest).duration.mean();
  if (seen(at(0)) && at(0).duration.mean() - least < settings_.exploration) fastest = 0;
  for (Candidate& it : candidates_) it.guess = seen(it) ? it.duration.mean() - at(fastest).duration.mean() : 0;
  lead(fastest);
  // Trials decide whether the survey has found a gain, unless they would cost more than the whole loan.
  gained_ = cost(opened_with_, 2) > kLoan * typical(leader_);
}

template <class Candidates>
void BasicContest<Candidates>::lead(int candidate) {
  leader_ = current_ = candidate;
  at(leader_).guess = 0;
  step_ = Step::lead;
  cold_ = true;
  reference_ = Estimate();
  before_change_ = Estimate();
  slower_ = faster_ = 0;
}

template <class Candidates>
double BasicContest<Candidates>::budget_left() const {
  return settings_.exploration * total_ + kLoan * typical(leader_) - lost_;
}

// Expected, beyond the leader's time.
template <class Candidates>
double BasicContest<Candidates>::cost(int rival, int executions) const {
  return executions * typical(leader_) * std::max(0.0, std::expm1(at(rival).guess));
}

// Of the rivals within the budget, the one that is likely to be fastest. A trial executes it twice, a probe once.
template <class Candidates>
int BasicContest<Candidates>::rival() const {
  const double left = budget_left();
  int best = -1;
  for (int i = 0; i < static_cast<int>(candidates_.size()); ++i) {
    if (i == leader_ || at(i).eliminated || cost(i, at(i).outdated ? 1 : 2) > left) continue;
    if (best < 0 || at(i).guess < at(best).guess) best = i;
  }
  return best;
}

template <class Candidates>
bool BasicContest<Candidates>::noise_is_known() const {
  return reference_.count() >= kReference;
}

// As long as the leader's noise is not known, it takes more trials to show that a rival is slower.
template <class Candidates>
bool BasicContest<Candidates>::worth_a_trial_now(int rival) const {
  return at(rival).guess < settings_.exploration || noise_is_known();
}

template <class Candidates>
void BasicContest<Candidates>::begin_trial(int rival) {
  if (at(rival).ratio.count() == 0 && noise_is_known()) {
    // Of one execution less the mean of two. The prior counts no more than what it takes to know the leader's noise,
    // since the rival's may be another.
    at(rival).ratio = Estimate(std::sqrt(1.5) * reference_.deviation(), kReference);
  }
  challenger_ = current_ = rival;
  step_ = cost(rival, 2) > budget_left() ? Step::probe : Step::trial;
  cold_ = true;
  trial_time_ = longest_ = second_longest_ = 0;
}

template <class Candidates>
void BasicContest<Candidates>::back_to_leader(bool cold) {
  step_ = Step::lead;
  current_ = leader_;
  cold_ = cold;
}

template <class Candidates>
void BasicContest<Candidates>::end_trial(double after) {
  Candidate& it = at(challenger_);
  const double leading = (before_ + after) / 2;
  it.ratio.add(trial_ - leading);
  it.guess = it.ratio.mean();
  it.outdated = false;
  // Two executions of the rival and two of the leader: too few for a deviation of their own.
  const double longest = std::min(longest_, second_longest_ * std::exp(Estimate::kClip * reference_.deviation()));
  lost_ += std::max(0.0, trial_time_ - longest_ + longest - 4 * std::exp(leading));
  step_ = Step::lead;
  const double confidence = each_confidence();
  const Interval ratio = it.ratio.count() >= kFewest ? it.ratio.interval(confidence) : Interval();
  if (challenger_ == opened_with_ && ratio.low > 0) gained_ = true;
  if (ratio.high < 0) {
    promote(challenger_);
  } else if (ratio.low > -settings_.exploration) {
    it.eliminated = true;
    it.last = ratio;
  } else if (it.ratio.count() == 1 && stands_out(trial_ - std::min(before_, after))) {
    // Two executions may have been disturbed: the former leader remains a rival.
    const int former = leader_;
    promote(challenger_);
    at(former).eliminated = false;
  }
}

// The leader's deviation before the change is that of each of the two executions.
template <class Candidates>
bool BasicContest<Candidates>::stands_out(double ratio) const {
  Estimate alone(std::numbers::sqrt2 * before_change_.deviation(), before_change_.count());
  alone.add(ratio);
  return alone.interval(each_confidence()).high < 0;
}

// One execution does not tell whether it was disturbed: no more is charged than was expected.
template <class Candidates>
void BasicContest<Candidates>::end_probe(double log_duration) {
  Candidate& it = at(challenger_);
  lost_ += std::clamp(trial_time_ - std::exp(before_), 0.0, cost(challenger_, 1));
  it.guess = log_duration - before_;
  it.outdated = false;
  it.surveyed = true;
  it.duration = Estimate();
  it.duration.add(log_duration);
  back_to_leader(true);
}

template <class Candidates>
void BasicContest<Candidates>::abandon() {
  switch (step_) {
    case Step::warm_up:
    case Step::lead: return;
    case Step::survey:
      at(current_).omitted = true;
      next_of_survey();
      return;
    case Step::trial:
    case Step::probe:
    case Step::back: break;
  }
  const bool executed = trial_time_ > 0;
  if (executed) lost_ += cost(challenger_, step_ == Step::back ? 2 : 1);
  back_to_leader(executed);
}

// All intervals hold together at the level of the settings.
template <class Candidates>
double BasicContest<Candidates>::each_confidence() const {
  return 1 - (1 - settings_.confidence) / static_cast<double>(candidates_.size() - 1);
}

// The others' ratios were to the leader until now.
template <class Candidates>
void BasicContest<Candidates>::promote(int rival) {
  const Interval won = at(rival).ratio.interval(each_confidence());
  const double guess = at(rival).guess;
  at(leader_).eliminated = true;
  at(leader_).last = {0, 0};
  for (Candidate& it : candidates_) {
    it.guess -= guess;
    it.ratio = Estimate();
    it.last = {it.last.low - won.high, it.last.high - won.low};
  }
  gained_ = true;
  lead(rival);
}

template <class Candidates>
bool BasicContest<Candidates>::watch(double log_duration) {
  if (noise_is_known()) {
    // A change below the exploration budget is not searched for.
    const double deviation = std::max(reference_.deviation(), settings_.exploration / kDrift);
    const double distance = (log_duration - reference_.mean()) / deviation;
    const double residual = std::clamp(distance, -Estimate::kClip, Estimate::kClip);
    slower_ = std::max(0.0, slower_ + residual - kDrift);
    faster_ = std::max(0.0, faster_ - residual - kDrift);
  }
  if (std::max(slower_, faster_) >= alarm_) {
    changed_ = true;
    before_change_ = std::exchange(reference_, Estimate());
    slower_ = faster_ = 0;
  }
  reference_.add(log_duration);
  if (!changed_ || since_ < pause_) return false;
  reopen();
  return true;
}

template <class Candidates>
void BasicContest<Candidates>::open() {
  if (gained_) pause_ = kPause;
  gained_ = changed_ = false;
  since_ = 0;
  opened_with_ = leader_;
}

template <class Candidates>
void BasicContest<Candidates>::reopen() {
  if (!gained_) pause_ = std::min(2 * pause_, kLongestPause);
  open();
  // Perhaps only the leader has become slower.
  const double slower = std::max(0.0, before_ - at(leader_).duration.mean());
  for (Candidate& it : candidates_) {
    it.eliminated = false;
    it.outdated = true;
    it.guess -= slower;
    it.ratio = Estimate();
  }
  at(leader_).guess = 0;
  // The loan is so many executions of the leader. If these are shorter now by more than the noise of one, the part that
  // was spent is, too.
  const Estimate& past = at(leader_).duration;
  const double shorter = 1 - std::exp(before_ - past.mean() + Estimate::kClip * past.deviation());
  const double spent = lost_ - settings_.exploration * total_;
  if (spent > 0 && shorter > 0) lost_ -= spent * shorter;
  at(leader_).duration = Estimate();
  at(leader_).duration.add(before_);
}

template class BasicContest<std::vector<Candidate>>;
template class BasicContest<std::array<Candidate, 2>>;

}  // namespace steelyard::decide
