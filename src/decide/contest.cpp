// SPDX-License-Identifier: BSD-3-Clause
#include "decide/contest.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace steelyard::decide {
namespace {

// CUSUM in standard deviations of the leader's log duration: residuals below kDrift do not add up. Half a deviation is
// the best value for finding a change of one deviation (Page 1954).
constexpr double kDrift = 0.5;
// Executions between two false alarms times the error: 20,000 at 95 %.
constexpr double kAlarmRate = 1000;
// Executions of the leader from which its mean and deviation are known before they are watched. Later executions refine
// both (a self-starting CUSUM, Hawkins 1987).
constexpr int kReference = 8;
// Executions after an opening before the next; doubled each time that an opening gains nothing.
constexpr long kPause = 16;
constexpr long kLongestPause = kPause << 12;
// A trial is two executions of the rival and two of the leader.
constexpr int kTrial = 4;

/// The sum at which CUSUM raises an alarm, from Siegmund's approximation of its average run length (1985).
double alarm(double confidence) {
  const double run_length = kAlarmRate / (1 - confidence);
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
  ++since_;
  if (step_ == Step::warm_up) {
    step_ = Step::survey;
    return false;
  }
  if (step_ == Step::survey) {
    survey(log_duration);
    return false;
  }
  if (std::exchange(cold_, false)) return false;
  count(current_, log_duration);
  if (step_ == Step::trial) {
    trial_ = log_duration;
    step_ = Step::back;
    current_ = leader_;
    cold_ = true;
    return false;
  }
  if (step_ == Step::back) {
    // The next trial is compared with executions of its own: trials that share one are not independent.
    end_trial(log_duration);
    return false;
  }
  before_ = log_duration;
  if (watch(log_duration)) return true;
  if (const int challenger = rival(); challenger >= 0) begin_trial(challenger);
  return false;
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
  const auto unseen = std::ranges::find_if(candidates_, [](const Candidate& it) { return it.duration.count() == 0; });
  if (unseen != candidates_.end()) {
    current_ = static_cast<int>(unseen - candidates_.begin());
    return;
  }
  auto fastest = std::ranges::min_element(candidates_, {}, [](const Candidate& it) { return it.duration.mean(); });
  if (candidates_.front().duration.mean() - fastest->duration.mean() < settings_.exploration)
    fastest = candidates_.begin();
  for (Candidate& it : candidates_) it.guess = it.duration.mean() - fastest->duration.mean();
  lead(static_cast<int>(fastest - candidates_.begin()));
}

template <class Candidates>
void BasicContest<Candidates>::lead(int candidate) {
  leader_ = current_ = candidate;
  at(leader_).guess = 0;
  step_ = Step::lead;
  cold_ = true;
  reference_ = Estimate();
  slower_ = faster_ = 0;
}

// Of the rivals that can be afforded, the one that is likely to be fastest. A trial executes it twice.
template <class Candidates>
int BasicContest<Candidates>::rival() const {
  const double leading = typical(leader_);
  const double left = settings_.exploration * total_ + kLoan * leading - lost_;
  int best = -1;
  for (int i = 0; i < static_cast<int>(candidates_.size()); ++i) {
    if (i == leader_ || at(i).eliminated) continue;
    const double cost = 2 * leading * std::max(0.0, std::expm1(at(i).guess));
    if (cost <= left && (best < 0 || at(i).guess < at(best).guess)) best = i;
  }
  return best;
}

template <class Candidates>
void BasicContest<Candidates>::begin_trial(int rival) {
  challenger_ = current_ = rival;
  step_ = Step::trial;
  cold_ = true;
  trial_time_ = 0;
}

template <class Candidates>
void BasicContest<Candidates>::end_trial(double after) {
  Candidate& it = at(challenger_);
  const double leading = (before_ + after) / 2;
  it.ratio.add(trial_ - leading);
  it.guess = it.ratio.mean();
  lost_ += std::max(0.0, trial_time_ - kTrial * std::exp(leading));
  step_ = Step::lead;
  const double confidence = each_confidence();
  const Interval ratio = it.ratio.interval(confidence);
  if (ratio.high < 0) {
    promote(challenger_);
  } else if (ratio.low > -settings_.exploration) {
    it.eliminated = true;
    it.last = ratio;
  }
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
  if (reference_.count() >= kReference) {
    const double deviation = reference_.deviation();
    const double distance = (log_duration - reference_.mean()) / deviation;
    const double residual = std::clamp(distance, -Estimate::kClip, Estimate::kClip);
    // A change below the exploration budget is not searched for.
    const double drift = std::max(kDrift, settings_.exploration / deviation);
    slower_ = std::max(0.0, slower_ + residual - drift);
    faster_ = std::max(0.0, faster_ - residual - drift);
  }
  reference_.add(log_duration);
  if (std::max(slower_, faster_) > alarm_) {
    changed_ = true;
    reference_ = Estimate();
    slower_ = faster_ = 0;
  }
  if (!changed_ || since_ < pause_) return false;
  reopen();
  return true;
}

template <class Candidates>
void BasicContest<Candidates>::reopen() {
  pause_ = gained_ ? kPause : std::min(2 * pause_, kLongestPause);
  gained_ = changed_ = false;
  since_ = 0;
  for (Candidate& it : candidates_) {
    it.eliminated = false;
    it.ratio = Estimate();
  }
  const double leading = typical(leader_);
  at(leader_).duration = Estimate();
  at(leader_).duration.add(before_);
  // The loan is so many executions of the leader. If these are shorter now, the part that was spent is, too.
  const double spent = lost_ - settings_.exploration * total_;
  if (spent > 0) lost_ -= spent * std::max(0.0, 1 - typical(leader_) / leading);
}

template class BasicContest<std::vector<Candidate>>;
template class BasicContest<std::array<Candidate, 2>>;

}  // namespace steelyard::decide
