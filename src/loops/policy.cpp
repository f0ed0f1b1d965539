// SPDX-License-Identifier: BSD-3-Clause
#include "loops/policy.h"

#include <algorithm>
#include <cmath>

namespace steelyard::loops {
namespace {

enum : std::size_t { kEven, kAdaptive, kStealing, kGuided };

// Share of the iterations. If fewer are stolen, ranges that follow the load gain less than the exploration budget.
constexpr double kMoved = decide::Settings{}.exploration;
// Share of the threads' time. If threads are idle for longer in spite of stealing, guided could be faster.
constexpr double kIdle = 0.03;
// Successive executions of a short loop that are not level, until the policy begins anew.
constexpr int kInARow = decide::kFewest + 1;

}  // namespace

Policy::Policy(const decide::Settings& settings, std::optional<Strategy> known) : contest_(1, settings) {
  known ? start_with(*known) : restart();
}

void Policy::restart() {
  step_ = Step::warm_up;
  first_ = kStealing;
  looks_ = 0;
  least_ = {};
  uneven_ = 0;
  since_ = 0;
}

void Policy::start_with(Strategy known) {
  restart();
  const auto found = std::ranges::find(candidates, known);
  if (found == candidates.end()) return;
  first_ = static_cast<std::size_t>(found - candidates.begin());
  known_ = known;
}

bool Policy::observe(const Observation& observation) {
  if (!(observation.ns > 0) || !(observation.iterations > 0)) return false;
  switch (step_) {
    case Step::warm_up:  // the first execution meets cold memory
      step_ = Step::look;
      return false;
    case Step::look: look(observation); return false;
    case Step::is_short: return has_grown(observation) && begin_anew();
    case Step::contest: break;
  }
  const bool changed = contest_.measured(observation.ns / observation.iterations);
  known_ = candidates[in_contest_[static_cast<std::size_t>(contest_.leader())]];
  return changed && begin_anew();
}

bool Policy::begin_anew() {
  ++resets_;
  restart();
  return true;
}

void Policy::look(const Observation& observation) {
  if (is_short(observation)) {
    step_ = Step::is_short;
    first_ = kEven;
    known_ = Strategy::even;
    return;
  }
  note_least(observation);
  if (looks_ == decide::kFewest) begin_contest(observation);
}

void Policy::begin_contest(const Observation& observation) {
  const double even = least_.even_ns;
  const bool rough = observation.ns < kShort;
  const bool even_is_close = rough || even == 0 || kLonger * least_.ns > even;
  const bool many_move = least_.stolen > kMoved || even > (1 + 2 * kMoved) * least_.level_ns;
  const bool promising[kCandidates] = {even_is_close, many_move, true, least_.idle > kIdle};
  in_contest_.clear();
  int first = 0;
  for (std::size_t i = 0; i < kCandidates; ++i) {
    if (!promising[i] && i != first_) continue;
    if (i == first_) first = static_cast<int>(in_contest_.size());
    in_contest_.push_back(i);
  }
  contest_.restart(static_cast<int>(in_contest_.size()), first);
  step_ = Step::contest;
}

bool Policy::is_short(const Observation& observation) const {
  if (observation.ns >= kShort) return false;
  const double even = first_ == kEven ? observation.ns : observation.even_ns;
  const double level = observation.level_ns;
  if (even == 0 || level == 0) return resets_ == 0;  // not known: even parts, until they have proved to be slow
  return even <= std::max(kLonger * level, level + kNegligible);
}

void Policy::note_least(const Observation& observation) {
  const bool first = ++looks_ == 1;
  const auto note = [first](double& least, double value) { least = first ? value : std::min(least, value); };
  const auto note_ns = [&](double& least, double ns) {
    if (ns > 0) least = std::min(least > 0 ? least : HUGE_VAL, ns / observation.iterations);
  };
  note_ns(least_.ns, observation.ns);
  note_ns(least_.even_ns, observation.even_ns);
  note_ns(least_.level_ns, observation.level_ns);
  note(least_.stolen, observation.stolen);
  note(least_.idle, observation.idle);
}

// A short loop that has become long is looked at again if its threads wait for each other, and an uneven one, too.
bool Policy::has_grown(const Observation& observation) {
  ++since_;
  const bool level =
      observation.ns < kShort ? observation.level_ns == 0 || is_short(observation) : observation.idle <= kIdle;
  uneven_ = level ? 0 : uneven_ + 1;
  // As after a contest that was opened in vain, the pause doubles each time.
  const long patience = resets_ == 0 ? 0 : decide::Contest::kPause << std::min(resets_, 6);
  return uneven_ >= kInARow && since_ >= patience;
}

std::string_view Policy::reason() const {
  if (step_ == Step::is_short) return "too short for anything to pay";
  return in_contest_.size() == 1 ? "nothing else comes near" : "fastest of those tried";
}

std::optional<Policy::Gain> Policy::gain() const {
  if (step_ != Step::contest || !settled()) return {};
  for (const std::size_t other : {kEven, kStealing}) {
    const auto found = std::ranges::find(in_contest_, other);
    const int candidate = static_cast<int>(found - in_contest_.begin());
    if (found == in_contest_.end() || candidate == contest_.leader()) continue;
    const decide::Contest::Gain gain = contest_.gain_over(candidate);
    if (std::isfinite(gain.interval.half_width())) return Gain{candidates[other], gain.value, gain.interval};
  }
  return {};
}

}  // namespace steelyard::loops
