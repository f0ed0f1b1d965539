// SPDX-License-Identifier: BSD-3-Clause
#include "loops/policy.h"

#include <algorithm>
#include <cmath>

namespace steelyard::loops {
namespace {

enum : std::size_t { kEven, kAdaptive, kStealing, kGuided };

constexpr int kRuns = 3;            // measured executions of each candidate
constexpr int kLooks = 2;           // of the first one before there are others
constexpr double kClose = 1.15;     // even parts are tried where they are forecast within this of stealing
constexpr double kMoved = 0.01;     // share of iterations stolen from which ranges should follow the load
constexpr double kIdle = 0.03;      // share of time idle, in spite of stealing, from which guided could do better
constexpr double kHopeless = 1.25;  // behind the best after one execution
constexpr double kBehind = 1.08;    // behind the best after two
constexpr double kTie = 0.005;      // closer than this is as good
constexpr double kBroken = 0.10;    // this far from what was promised, three times in a row: the loop has changed
constexpr double kDrift = 0.03;     // this far on average: it has drifted
constexpr int kPatience = 16;       // executions after a choice during which a drift is not yet one
// Even parts of a short loop are compared only where they are forecast to take so much longer, for the forecast is as
// rough as the loop is short: threads do not all begin at once.
constexpr double kUneven = 1.25;
constexpr double kUnevenNs = 1000;

}  // namespace

double Policy::Arm::typical() const {
  const int n = std::min<int>(runs, static_cast<int>(recent.size()));
  // The one that half of the others are below: of five at most, looked for one by one.
  for (int i = 0; i < n; ++i) {
    const double value = recent[static_cast<std::size_t>(i)];
    const auto below = std::count_if(recent.begin(), recent.begin() + n, [&](double other) { return other < value; });
    const auto same = std::count(recent.begin(), recent.begin() + n, value);
    if (below <= (n - 1) / 2 && (n - 1) / 2 < below + same) return value;
  }
  return 0;
}

double Policy::Arm::fastest() const {
  const int n = std::min<int>(runs, static_cast<int>(recent.size()));
  return n == 0 ? 0 : *std::min_element(recent.begin(), recent.begin() + n);
}

double Policy::Arm::spread() const {
  const int n = std::min<int>(runs, static_cast<int>(recent.size()));
  if (n < 2) return 0;
  const auto [least, most] = std::minmax_element(recent.begin(), recent.begin() + n);
  return (*most - *least) / (2 * typical());
}

void Policy::Arm::add(double value) {
  recent[static_cast<std::size_t>(runs) % recent.size()] = value;
  ++runs;
}

void Policy::restart() {
  arm_ = {};
  arm_[kStealing].candidate = true;
  current_ = kStealing;
  settled_ = warm_ = false;
  looks_ = 0;
  least_ = {};
  promised_ = noise_ = slow_ = 0;
  broken_ = quiet_ = 0;
  since_ = 0;
  reason_ = "ranges and stealing, until there is something to compare";
}

void Policy::start_with(Strategy known) {
  restart();
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i] != known) continue;
    arm_[i].candidate = true;
    current_ = i;
    known_ = known;
    reason_ = "best in an earlier run, until there is something to compare";
  }
}

bool Policy::observe(const Observation& observation) {
  if (!(observation.ns > 0) || !(observation.iterations > 0)) return false;
  if (settled_) return watch(observation);
  // The first execution meets cold memory, and so does the first one with other boundaries: they are not compared.
  if (!warm_) {
    warm_ = true;
    return false;
  }
  arm_[current_].add(observation.ns / observation.iterations);
  choose_candidates(observation);
  if (settled_) return false;
  drop_hopeless();
  go_on();
  return false;
}

void Policy::choose_candidates(const Observation& observation) {
  if (looks_ < kLooks && is_short(observation)) {
    settle(kEven, "too short for anything to pay");
    return;
  }
  note_least(observation);
  if (looks_ < kLooks) return;
  const double even = least_.even_ns;
  const auto try_where = [](Arm& arm, bool promising) { arm.candidate |= promising && arm.runs == 0; };
  const bool rough = observation.ns < kShort;
  try_where(arm_[kEven], rough || even == 0 || even < kClose * least_.ns);
  try_where(arm_[kAdaptive], least_.stolen > kMoved || even > (1 + 2 * kMoved) * least_.level_ns);
  try_where(arm_[kGuided], least_.idle > kIdle);
}

bool Policy::is_short(const Observation& observation) const {
  if (observation.ns >= kShort) return false;
  const double even = current_ == kEven ? observation.ns : observation.even_ns;
  const double level = observation.level_ns;
  if (even == 0 || level == 0) return resets_ == 0;  // not known: even parts, until they have proved to be slow
  return even <= std::max(kUneven * level, level + kUnevenNs);
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

void Policy::drop_hopeless() {
  double best = 0;
  for (const Arm& arm : arm_) {
    if (arm.candidate && arm.runs > 0 && (best == 0 || arm.typical() < best)) best = arm.typical();
  }
  for (Arm& arm : arm_) {
    if (!arm.candidate || arm.runs == 0) continue;
    // Nothing else takes the place of these two, and one execution may have been disturbed.
    const bool sole = &arm == &arm_[kEven] || &arm == &arm_[kStealing];
    if (sole && arm.runs == 1) continue;
    if (arm.fastest() > best * (arm.runs == 1 ? kHopeless : kBehind)) arm.candidate = false;
  }
}

// The candidate with the fewest executions is next; when all have had theirs, the fastest stays, and among equally fast
// ones the one that moves least: the arms are in this order.
void Policy::go_on() {
  if (looks_ < kLooks) return;
  std::size_t next = kArms, best = kArms, left = 0, tried = 0;
  for (std::size_t i = 0; i < kArms; ++i) {
    const Arm& arm = arm_[i];
    tried += arm.runs > 0;
    if (!arm.candidate) continue;
    ++left;
    if (arm.runs < kRuns && (next == kArms || arm.runs < arm_[next].runs)) next = i;
    if (arm.runs > 0 && (best == kArms || arm.typical() < arm_[best].typical() * (1 - kTie))) best = i;
  }
  if (next == kArms || (left == 1 && best != kArms && tried > 1)) {
    settle(best, left == 1 ? "nothing else comes near" : "fastest of those tried");
    return;
  }
  if (next != current_ && next == kAdaptive && arm_[next].runs == 0) warm_ = false;
  current_ = next;
}

void Policy::settle(std::size_t arm, std::string_view reason) {
  settled_ = true;
  current_ = arm;
  known_ = arms[arm];
  reason_ = reason;
  promised_ = arm_[arm].runs >= 2 ? arm_[arm].typical() : 0;
  noise_ = promised_ > 0 ? std::abs(promised_ / arm_[arm].fastest() - 1) : 0;
  slow_ = promised_;
  since_ = 0;
  broken_ = quiet_ = 0;
  if (promised_ == 0) arm_[arm] = {};
}

std::optional<Policy::Gain> Policy::gain() const {
  const Arm& chosen = arm_[current_];
  if (!settled_ || chosen.runs < 2) return {};
  for (const std::size_t other : {kEven, kStealing}) {
    const Arm& arm = arm_[other];
    if (other == current_ || arm.runs == 0) continue;
    const double rest = chosen.typical() / arm.typical();
    return Gain{arms[other], 1 - rest, rest * std::hypot(chosen.spread(), arm.spread())};
  }
  return {};
}

bool Policy::watch(const Observation& observation) {
  const double value = observation.ns / observation.iterations;
  ++since_;
  const auto begin_anew = [&] {
    ++resets_;
    restart();
    return true;
  };
  const long patience = static_cast<long>(kPatience) << std::min(resets_, 6);
  // Even parts of short loops are held to no promise. One that has become long is worth another look, or uneven.
  if (current_ == kEven && observation.ns < kShort) {
    promised_ = 0;
    arm_[current_] = {};
    broken_ = observation.level_ns == 0 || is_short(observation) ? 0 : broken_ + 1;
    return broken_ >= 3 && since_ >= patience && begin_anew();
  }
  Arm& arm = arm_[current_];
  if (promised_ == 0) {
    arm.add(value);
    // Even parts that nobody has compared, and threads that wait for each other: the loop was too short once. So soon
    // after the last change it is looked at when the patience has run out.
    if (current_ == kEven && observation.idle > kIdle) {
      if (arm.runs >= kRuns && (resets_ == 0 || since_ >= patience)) return begin_anew();
      if (resets_ > 0) return false;
    }
    if (arm.runs < static_cast<int>(arm.recent.size())) return false;
    broken_ = 0;
    promised_ = slow_ = arm.typical();
    noise_ = promised_ / arm.fastest() - 1;
    return false;
  }
  const double off = value / promised_ - 1;
  broken_ = std::abs(off) > std::max(kBroken, 4 * noise_) ? broken_ + 1 : 0;
  if (broken_ == 0) slow_ += (value - slow_) / 8;
  if (since_ < patience) {
    // A change so soon after the last one: looked at when the patience has run out.
    if (broken_ >= 3 && resets_ == 0) return begin_anew();
    return false;
  }
  if (broken_ >= 3) return begin_anew();
  if (slow_ > promised_ * (1 + std::max(kDrift, 2 * noise_))) return begin_anew();
  // Faster than promised: what is promised from now on.
  if (slow_ < promised_) promised_ = slow_;
  // A long quiet time wins back the trust that changes have cost.
  if (++quiet_ >= 256 && resets_ > 0) {
    quiet_ = 0;
    --resets_;
  }
  return false;
}

}  // namespace steelyard::loops
