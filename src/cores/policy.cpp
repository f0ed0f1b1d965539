// SPDX-License-Identifier: BSD-3-Clause
#include "cores/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>

#include "cores/estimate.h"
#include "cores/trial.h"
#include "wait/back_off.h"

namespace steelyard::cores {
namespace {

// s of a window: in a shorter one, wake-ups take more than the exploration budget.
constexpr double kShortest = 1e-9 * wait::kAtWork / decide::Settings{}.exploration;
constexpr double kLongest = 1.0;  // s of a window while the loads are steady: a change is noticed within two windows
constexpr int kCaution = decide::kFewest;  // windows that have to agree before a plan is made
constexpr int kPart = 28;                  // a window spans at most this part of the shortest steady stretch
// Windows for which a plan is wrong once the loads have changed again: two that show the change, and those that have to
// agree on the new loads.
constexpr int kNoticing = 2 + kCaution;

/// For how long the loads have been steady, in steps, and what that says about how long they will be.
class Steadiness {
 public:
  void add(int steps) { steps_ += steps; }
  /// A stretch shorter than what it takes to notice it tells nothing, and is not remembered.
  void change(int steps, int noticeable) {
    if (steps_ > noticeable) {
      past_.push_back(steps_);
      if (past_.size() > 8) past_.pop_front();
    }
    steps_ = steps;
    ever_changed_ = true;
  }
  double steps() const { return steps_; }
  /// As long again as so far, averaged with what past stretches had left at this age. Loads that have never changed get
  /// the credit of `credit` steps: waiting for proof would cost the most where there is most to gain.
  double remaining(double credit) const {
    if (!ever_changed_) return std::max(steps_, credit);
    double sum = steps_;
    int count = 1;
    for (double length : past_) {
      if (length <= steps_) continue;
      sum += length - steps_;
      ++count;
    }
    return sum / count;
  }
  double shortest() const {
    const double now = std::max(steps_, 1.0);
    return past_.empty() ? now : std::min(now, *std::min_element(past_.begin(), past_.end()));
  }

 private:
  double steps_ = 0;
  bool ever_changed_ = false;
  std::deque<double> past_;
};

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

/// "34.1 % (95 % CI 32.0 to 36.2 %)".
std::string with_interval(double value, const decide::Interval& interval, double confidence) {
  return fmt::format("{} ({})", percent(value), decide::to_text(interval, confidence));
}

bool slowest_is_in_pool(const std::vector<ProcessLoad>& loads) {
  const auto slowest = std::ranges::max_element(loads, {}, measured_busy);
  return slowest != loads.end() && slowest->in_pool && slowest->threads >= slowest->ceiling;
}

}  // namespace

struct Policy::State {
  PolicyOptions options;
  Estimate estimate;
  /// The last window did not fit. Replaces the estimate if the next window does not fit either.
  struct Doubt {
    Estimate estimate;
    int steps;
  };
  std::optional<Doubt> doubt;
  Steadiness steadiness;
  Spell spell;  ///< since the last change of loads or of thread counts
  std::optional<Trial> trial;
  Plan start;                   ///< what the user gave
  long applied_at = -1;         ///< step of the last move, until the loads change; -1: none
  int caution = kCaution;       ///< doubled when the loads change before a move has paid, halved when it has
  double step_time = 0;         ///< s, smoothed
  double move_cost = 0;         ///< s for each core
  long step = 0;                ///< steps seen
  long considered = 0;          ///< the last step at which --balance-every or --balance-at was served
  std::string declined_reason;  ///< why the last plan that the user asked for was not carried out
  long resting_until = 0;       ///< step
  double rest = 0;              ///< steps of the next back-off; 0: none so far

  Verdict consider(const Window& window, const NodeShape& shape);
  int steps_wanted() const;

 private:
  /// The user says when to plan.
  bool by_hand() const { return options.every > 0 || options.at > 0; }
  /// The step at which the user wants a plan; 0: not any more.
  long next_by_hand() const;
  int shortest_window() const;
  Estimate::News observe(const Window& window);
  Estimate::News learn(const Window& window);
  void account_for_last_move();
  bool should_restore_start(const Window& window) const;
  void check(const Window& window, Verdict& verdict);
  void decide(const NodeShape& shape, bool forced, Verdict& verdict);
  void apply(Verdict& verdict, const NodeShape& shape);
  Plan as_it_is(const NodeShape& shape) const;
};

int Policy::State::shortest_window() const {
  return step_time > 0 ? static_cast<int>(std::clamp(std::ceil(kShortest / step_time), 1.0, 1e6)) : 1;
}

long Policy::State::next_by_hand() const {
  if (options.at > 0) return considered == 0 ? options.at : 0;
  return (considered / options.every + 1) * options.every;
}

int Policy::State::steps_wanted() const {
  const int shortest = shortest_window();
  double wanted = shortest;
  const bool quiet = !trial && !doubt && estimate.windows() >= 2;
  if (quiet) {
    const double longest = step_time > 0 ? kLongest / step_time : 1;
    wanted = std::max(wanted, std::min({longest, steadiness.shortest() / kPart, estimate.steps_on_record() / 8}));
  }
  if (by_hand() && next_by_hand() > step) wanted = std::min(wanted, static_cast<double>(next_by_hand() - step));
  return static_cast<int>(wanted);
}

/// The loads have changed. Caution grows if the last move has not paid by now.
void Policy::State::account_for_last_move() {
  if (applied_at < 0) return;
  const bool paid = step - applied_at >= static_cast<long>(Trial::kWindows) * shortest_window();
  caution = paid ? std::max(kCaution, caution / 2) : std::min(2 * caution, 1024);
  applied_at = -1;
}

/// True if loads change before moves pay, so that the thread counts of the last move fit no loads. Those of the start
/// fit what the user had in mind.
bool Policy::State::should_restore_start(const Window& window) const {
  if (by_hand() || caution < 2 * kCaution) return false;
  for (std::size_t p = 0; p < window.loads.size(); ++p)
    if (window.loads[p].threads != start.threads[p]) return true;
  return false;
}

/// A single window that does not fit is an accident of the machine: it is left out, unless the next one does not fit
/// either.
Estimate::News Policy::State::learn(const Window& window) {
  Estimate steady = estimate;
  const Estimate::News news = steady.add(window);
  if (news == Estimate::News::steady) {
    estimate = std::move(steady);
    doubt.reset();
    return news;
  }
  if (!doubt) {
    doubt = Doubt{std::move(steady), window.steps};
    return Estimate::News::steady;
  }
  doubt->estimate.add(window);
  estimate = std::move(doubt->estimate);
  doubt.reset();
  return Estimate::News::changed;
}

Estimate::News Policy::State::observe(const Window& window) {
  step += window.steps;
  if (trial && trial->loads.size() != window.loads.size()) trial.reset();
  const double now = window.elapsed / window.steps;
  step_time = step_time > 0 ? (step_time + now) / 2 : now;
  const int doubted = doubt ? doubt->steps : 0;
  const Estimate::News news = learn(window);
  if (doubt) return news;
  if (news == Estimate::News::changed) {
    account_for_last_move();
    steadiness.change(doubted + window.steps, 2 * window.steps);
    spell.clear();
    trial.reset();
    rest = 0;
    resting_until = 0;
  } else {
    steadiness.add(doubted + window.steps);
  }
  if (estimate.windows() > 0) spell.add(window);  // 0: thread counts changed in this window
  return news;
}

void Policy::State::check(const Window& window, Verdict& verdict) {
  if (trial->first_steps == 0) {
    trial->first_steps = window.steps;
    trial->first_elapsed = window.elapsed / window.steps;
    verdict.reason = "the last move has just taken effect and was not measured yet";
    return;
  }
  for (std::size_t p = 0; p < window.loads.size(); ++p) {
    if (window.loads[p].threads == trial->applied.threads[p]) continue;
    verdict.reason = fmt::format("the last move could not be verified: process {} has {} threads instead of {}", p,
                                 window.loads[p].threads, trial->applied.threads[p]);
    trial.reset();
    return;
  }
  trial->after.add(window);
  const Trial::Judgement judgement = trial->judge(estimate.steady_total(), estimate.step_noise());
  verdict.reason = fmt::format("verifying the last move: it gained {} so far, {} was forecast", percent(judgement.gain),
                               percent(trial->forecast));
  if (judgement.ruling == Trial::Ruling::open) return;

  verdict.judged = judgement.ruling != Trial::Ruling::kept;
  verdict.helped = judgement.ruling == Trial::Ruling::helped;
  verdict.measured_gain = judgement.gain;
  verdict.measured = judgement.interval;
  const double after = trial->after.elapsed(), before = trial->before.elapsed();
  if (before > 0) {
    const double extra = (trial->first_elapsed - std::max(before, after)) * trial->first_steps;
    move_cost =
        std::clamp((move_cost + extra / trial->applied.moved) / 2, options.move_cost / 4, options.move_cost * 100);
  }
  if (estimate.steady_total()) estimate.learn_scaling(trial->loads);
  if (trial->before.windows() < decide::kFewest) {
    verdict.reason = "the last move could not be verified: too few steps were measured before it";
  } else if (!verdict.judged) {
    verdict.reason =
        fmt::format("the last move is kept, though its gain is not statistically significant: {}; {} was forecast",
                    with_interval(judgement.gain, judgement.interval, trial->confidence), percent(trial->forecast));
  } else if (verdict.helped) {
    verdict.reason =
        fmt::format("the last move gained {}; {} was forecast",
                    with_interval(judgement.gain, judgement.interval, trial->confidence), percent(trial->forecast));
    rest = 0;
  } else {
    rest = rest > 0 ? 2 * rest : 2.0 * Trial::kWindows * shortest_window();
    resting_until = step + std::lround(rest);
    verdict.action = Action::undo;
    verdict.plan = trial->previous;
    verdict.plan.moved = trial->applied.moved;
    verdict.cost = trial->applied.moved * move_cost;
    verdict.reason = fmt::format("reverted: the last move gained {}; {} was forecast; no new plan for {:.0f} steps",
                                 with_interval(judgement.gain, judgement.interval, trial->confidence),
                                 percent(trial->forecast), rest);
    spell.clear();
  }
  trial.reset();
}

void Policy::State::decide(const NodeShape& shape, bool forced, Verdict& verdict) {
  const double remaining = steadiness.remaining(Trial::kWindows * shortest_window());
  Plan best = plan(estimate.loads(), estimate.scaling(), shape);
  const double saved = best.busy_now - best.busy_then;  // s a step
  verdict.forecast_gain = saved / std::max(step_time, best.busy_now);
  verdict.noise = options.noise_factor * estimate.noise();
  verdict.cost = best.moved * move_cost;
  verdict.plan = std::move(best);
  const double needed = options.least_gain + verdict.noise;
  const double useful = remaining - kNoticing * shortest_window();

  if (verdict.plan.busy_now <= 0) {
    verdict.reason = "no computation was measured";
  } else if ((verdict.plan.moved == 0 || saved <= 0) && slowest_is_in_pool(estimate.loads())) {
    verdict.reason =
        "most of the slowest rank's time is spent in a task pool, which has no thread for one more core: idle ranks "
        "take its tasks instead";
  } else if (verdict.plan.moved == 0 || saved <= 0) {
    verdict.reason =
        fmt::format("balanced as far as whole cores allow: the slowest rank computes {:.4g} s of a step of {:.4g} s",
                    verdict.plan.busy_now, step_time);
  } else if (!forced && verdict.forecast_gain < needed) {
    verdict.reason =
        fmt::format("forecast gain {} is too small: it must exceed the measurement uncertainty of {} by {}",
                    percent(verdict.forecast_gain), percent(verdict.noise), percent(options.least_gain));
  } else if (!forced && saved * useful <= verdict.cost) {
    verdict.reason =
        fmt::format("forecast gain {} over the next {:.0f} steps is less than the cost of moving {} cores, {:.2g} s",
                    percent(verdict.forecast_gain), std::max(0.0, useful), verdict.plan.moved, verdict.cost);
  } else {
    apply(verdict, shape);
  }
}

void Policy::State::apply(Verdict& verdict, const NodeShape& shape) {
  verdict.action = Action::apply;
  verdict.reason = fmt::format("{}: the slowest rank computes {:.4g} -> {:.4g} s per step, gain {}, uncertainty {}",
                               verdict.plan.method, verdict.plan.busy_now, verdict.plan.busy_then,
                               percent(verdict.forecast_gain), percent(verdict.noise));
  trial.emplace();
  trial->applied = verdict.plan;
  trial->previous = as_it_is(shape);
  trial->forecast = verdict.forecast_gain;
  trial->confidence = options.decision.confidence;
  trial->loads = estimate.newest();
  trial->before = spell;
  applied_at = step;
  spell.clear();
}

Plan Policy::State::as_it_is(const NodeShape& shape) const {
  Plan now;
  now.method = "as it was";
  const std::vector<int> joined = joined_domains(shape);
  for (std::size_t p = 0; const ProcessLoad& load : estimate.loads()) {
    const std::vector<int>& held = shape.held[p++];
    const auto most = std::max_element(held.begin(), held.end());
    now.threads.push_back(load.threads);
    now.domain.push_back(most != held.end() && *most > 0 ? joined[most - held.begin()] : -1);
    now.busy_now = std::max(now.busy_now, measured_busy(load));
  }
  now.busy_then = now.busy_now;
  return now;
}

Verdict Policy::State::consider(const Window& raw, const NodeShape& shape) {
  Verdict verdict;
  verdict.reason = no_plan_reason(raw, shape);
  if (!verdict.reason.empty()) {
    step += std::max(0, raw.steps);
    return verdict;
  }
  const Window window = cleaned(raw);
  const Estimate::News news = observe(window);
  if (start.threads.size() != window.loads.size()) start = as_it_is(shape);
  if (news == Estimate::News::changed && should_restore_start(window)) {
    verdict.action = Action::undo;
    verdict.plan = start;
    for (std::size_t p = 0; p < window.loads.size(); ++p)
      verdict.plan.moved += std::max(0, start.threads[p] - window.loads[p].threads);
    verdict.reason = fmt::format(
        "loads change faster than moves pay off: thread counts of the start restored, next plan after {} steady "
        "windows",
        caution);
    return verdict;
  }
  if (doubt && !by_hand()) {
    verdict.reason = "the last window differs from all before: waiting for the next window";
    return verdict;
  }
  if (trial) check(window, verdict);

  const bool due = by_hand() && next_by_hand() > 0 && step >= next_by_hand();
  if (due) considered = step;
  if (verdict.action == Action::undo || verdict.judged) return verdict;
  if (by_hand() && !due) {
    if (!trial) {
      verdict.reason = next_by_hand() > 0        ? fmt::format("next plan at step {}", next_by_hand())
                       : declined_reason.empty() ? "planned once (--balance-at)"
                                                 : declined_reason;
    }
    return verdict;
  }
  if (trial && !due) return verdict;
  if (step < resting_until)
    verdict.reason = fmt::format("no plan before step {}: the last move did not help", resting_until);
  else if (!due && (estimate.windows() < kCaution || steadiness.steps() < caution * shortest_window()))
    verdict.reason = fmt::format("the loads are new: waiting for {} windows with equal loads", caution);
  else
    decide(shape, due, verdict);
  if (due && verdict.action == Action::none) declined_reason = verdict.reason;
  return verdict;
}

Policy::Policy(PolicyOptions options) : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->move_cost = options.move_cost;
}
Policy::~Policy() = default;
Verdict Policy::consider(const Window& window, const NodeShape& shape) {
  const bool open = state_->trial.has_value();
  Verdict verdict = state_->consider(window, shape);
  verdict.undecided = open && !verdict.judged && (!state_->trial || verdict.action == Action::apply);
  return verdict;
}
int Policy::steps_wanted() const { return state_->steps_wanted(); }
double Policy::seconds_wanted() const { return state_->steps_wanted() * state_->step_time; }
const std::vector<Scaling>& Policy::scaling() const { return state_->estimate.scaling(); }

}  // namespace steelyard::cores
