// SPDX-License-Identifier: BSD-3-Clause
#include "loops/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "base/log.h"

namespace steelyard::loops {
namespace {

/// Size: pairs of iteration count and thread count of a loop of which assignments are kept. They take some MB.
constexpr std::size_t kMostRecorded = 10000;

int magnitude_of(std::uint64_t count) { return std::bit_width(count); }

}  // namespace

class Tie {
 public:
  /// Where a group has gone that was joined to others.
  static std::shared_ptr<Tie> last(std::shared_ptr<Tie> tie) {
    for (;;) {
      const std::lock_guard lock(tie->mutex_);
      if (!tie->joined_) return tie;
      tie = tie->joined_;
    }
  }
  /// All loops of both are one group from now on.
  static void join(const std::shared_ptr<Tie>& one, const std::shared_ptr<Tie>& other) {
    for (;;) {
      const std::shared_ptr<Tie> into = last(one), from = last(other);
      if (into == from) return;
      const std::scoped_lock lock(into->mutex_, from->mutex_);
      if (into->joined_ || from->joined_) continue;
      for (auto& [threads, team] : from->teams_) into->teams_[threads].profiles.merge(team.profiles);
      from->joined_ = into;
      return;
    }
  }
  /// A loop has a new profile. Returns true if that changes the boundaries, which all tied loops share.
  bool update(const Loop* loop, int threads, const Profile& profile) {
    const std::lock_guard lock(mutex_);
    Team& team = teams_[threads];
    team.profiles[loop] = profile;
    Profile sum;
    for (const auto& [member, its] : team.profiles) sum = add(sum, its);
    if (imbalance(sum, team.boundaries.empty() ? even_parts(threads) : team.boundaries) <= History::kDeadBand)
      return false;
    team.boundaries = equal_parts(sum, threads);
    static std::atomic<std::uint64_t> versions = 0;  // never twice the same, whatever the group
    team.version = ++versions;
    return true;
  }
  void forget(const Loop* loop) {
    const std::lock_guard lock(mutex_);
    for (auto& [threads, team] : teams_) team.profiles.erase(loop);
  }
  /// If the shared boundaries are newer than `version`, copies them and their version, and returns true.
  bool follow(int threads, std::uint64_t& version, std::vector<double>& boundaries) {
    const std::lock_guard lock(mutex_);
    const Team& team = teams_[threads];
    if (team.boundaries.empty() || team.version == version) return false;
    version = team.version;
    boundaries = team.boundaries;
    return true;
  }

 private:
  struct Team {
    std::map<const Loop*, Profile> profiles;
    std::vector<double> boundaries;
    std::uint64_t version = 0;
  };
  std::mutex mutex_;
  std::map<int, Team> teams_;
  std::shared_ptr<Tie> joined_;
};

Loop::Loop(std::string key, Settings settings) : key_(std::move(key)), settings_(settings) {}

Loop::~Loop() {
  if (tie_) Tie::last(tie_)->forget(this);
}

Settings Loop::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

base::Status Loop::set(const Settings& settings) {
  if (base::Status status = check(settings); !status) return status;
  const std::lock_guard lock(mutex_);
  settings_ = settings;
  for (Regime& regime : regimes_) regime.plan.shape = {};  // made anew
  return {};
}

void Loop::tie(Loop& other) {
  if (&other == this) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  if (!tie_) tie_ = other.tie_ ? other.tie_ : std::make_shared<Tie>();
  if (!other.tie_) other.tie_ = tie_;
  Tie::join(tie_, other.tie_);
}

void Loop::set_slack(std::int64_t ns) {
  const std::lock_guard lock(mutex_);
  slack_ns_ = std::max<std::int64_t>(0, ns);
  if (latest_ == nullptr) return;
  latest_->history.measured().slack_ns = static_cast<double>(slack_ns_);
  if (compose(settings_.strategy).slack && latest_->plan.shape.count > 0) replan(*latest_, latest_->plan.shape);
}

void Loop::record_assignments(bool on) {
  const std::lock_guard lock(mutex_);
  record_ = on;
}

base::Status Loop::replay(Assignment assignment) {
  if (!assignment.complete()) {
    return base::Status::failure(
        base::Code::invalid_argument,
        fmt::format("the assignment of loop {} does not hold each of its {} iterations exactly once: record it again",
                    key_, assignment.count));
  }
  const std::lock_guard lock(mutex_);
  const Assignment& kept = replayed_.emplace_back(std::move(assignment));
  replayed_by_size_[size_of(kept)] = &kept;
  return {};
}

Loop::Size Loop::size_of(const Assignment& assignment) {
  return {assignment.count, static_cast<int>(assignment.threads.size())};
}

/// Where it is not to be measured: a later run is to find each size that this one had.
bool Loop::wants_record(const Shape& shape) const {
  const auto known = recorded_.find({shape.count, shape.threads});
  return known != recorded_.end() ? !known->second.now : recorded_.size() < kMostRecorded;
}

Loop::Regime& Loop::regime_of(const Shape& shape) {
  const int magnitude = magnitude_of(shape.count);
  if (latest_ != nullptr && latest_->threads == shape.threads && latest_->magnitude == magnitude) return *latest_;
  for (Regime& regime : regimes_) {
    if (regime.threads == shape.threads && regime.magnitude == magnitude) return *(latest_ = &regime);
  }
  Regime& made = regimes_.emplace_back();
  made.threads = shape.threads;
  made.magnitude = magnitude;
  made.history = History(shape.threads);
  made.policy = Policy(settings_.decision);
  made.history.measured().slack_ns = static_cast<double>(slack_ns_);
  return *(latest_ = &made);
}

void Loop::prepare(const Shape& shape, Plan& plan, Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  Regime& regime = regime_of(shape);
  const bool stranger = ticket.regime != &regime;
  ticket.regime = &regime;
  const bool due = --regime.until_measured <= 0;
  ticket.record = record_ && (due || wants_record(shape));
  ticket.replayed = nullptr;
  if (!replayed_.empty()) {
    const auto known = replayed_by_size_.find({shape.count, shape.threads});
    if (known != replayed_by_size_.end()) ticket.replayed = known->second;
  }
  ++repeats_.executions;
  repeats_.repeated += ticket.replayed != nullptr ? 1 : 0;
  // A replay says nothing about what the plan would have done.
  ticket.measure = due && ticket.replayed == nullptr;
  if (!replayed_.empty() && ticket.replayed == nullptr && !std::exchange(said_missing_, true)) {
    base::warn_once(
        fmt::format("loop {} has {} iterations and {} threads now, for which nothing was recorded: this execution is "
                    "not repeated, nor "
                    "others of which that is so; run it as it was recorded",
                    key_, shape.count, shape.threads));
  }
  if (regime.plan.shape != shape) replan(regime, shape);
  if (stranger || ticket.version != regime.version) {
    plan = regime.plan;
    ticket.version = regime.version;
  }
}

void Loop::replan(Regime& regime, const Shape& shape) {
  Settings settings = settings_;
  if (settings.strategy == Strategy::automatic) settings.strategy = regime.policy.next();
  make_plan(shape, compose(settings.strategy), settings, regime.history.measured(), next_);
  if (next_ == regime.plan) return;
  std::swap(regime.plan, next_);
  regime.version = ++versions_;
}

void Loop::completed(const Plan& plan, const Ticket& ticket, const Execution& execution) {
  const std::lock_guard lock(mutex_);
  Regime& regime = *static_cast<Regime*>(ticket.regime);
  if (tie_) tie_ = Tie::last(tie_);
  History& history = regime.history;
  history.add(plan, execution);
  const bool automatic = settings_.strategy == Strategy::automatic;
  if (automatic && plan.strategy == regime.policy.next()) {
    const Observation observation{static_cast<double>(execution.elapsed_ns),
                                  static_cast<double>(execution.count),
                                  history.latest_even(execution.count),
                                  history.forecast_level(execution.count),
                                  execution.stolen_share(),
                                  execution.idle_share()};
    if (regime.policy.observe(observation)) {
      history.reset();
      regime.tie_version = 0;
      if (tie_) tie_->forget(this);
    }
  }
  const bool follows =
      automatic ? regime.policy.next() == Strategy::adaptive : settings_.strategy == Strategy::adaptive;
  if (follows) {
    if (!tie_) {
      history.rebalance();
    } else {
      if (history.measured().profile.known()) tie_->update(this, regime.threads, history.measured().profile);
      std::vector<double> boundaries;
      if (tie_->follow(regime.threads, regime.tie_version, boundaries)) history.set_boundaries(std::move(boundaries));
    }
  }
  const bool learning = automatic ? !regime.policy.settled() : history.executions() < History::kRing;
  // Measuring executions and learning from them may take half of the exploration budget.
  // What takes longer than an execution was interrupted: a single such reading must not end the measurements.
  const double mean = history.mean_ns();
  const double cost = std::min(static_cast<double>(execution.learning_ns), mean);
  const double budget = settings_.decision.exploration / 2 * mean;
  regime.until_measured = learning || !(budget > 0) ? 1 : std::max(1L, static_cast<long>(std::ceil(cost / budget)));
  replan(regime, regime.plan.shape);
}

void Loop::recorded(Assignment assignment) {
  const std::lock_guard lock(mutex_);
  const Size size = size_of(assignment);
  if (recorded_.size() >= kMostRecorded && !recorded_.contains(size)) {
    base::warn_once(fmt::format("of loop {} only the first {} numbers of iterations and threads are recorded", key_,
                                kMostRecorded));
    return;
  }
  recorded_[size] = {std::move(assignment), true};
}

void Loop::called(std::uint64_t iterations) {
  executions_.fetch_add(1, std::memory_order_relaxed);
  iterations_.fetch_add(iterations, std::memory_order_relaxed);
}

Loop::Calls Loop::calls() const {
  return {executions_.load(std::memory_order_relaxed), iterations_.load(std::memory_order_relaxed)};
}

Loop::Repeats Loop::repeats() const {
  const std::lock_guard lock(mutex_);
  return repeats_;
}

bool Loop::find(const Shape& shape, Regime& copy) const {
  const std::lock_guard lock(mutex_);
  for (const Regime& regime : regimes_) {
    if (regime.threads != shape.threads || regime.magnitude != magnitude_of(shape.count)) continue;
    copy = regime;
    return true;
  }
  return false;
}

bool Loop::latest(Regime& copy) const {
  const std::lock_guard lock(mutex_);
  if (latest_ != nullptr) copy = *latest_;
  return latest_ != nullptr;
}

std::vector<Loop::Regime> Loop::regimes() const {
  const std::lock_guard lock(mutex_);
  return {regimes_.begin(), regimes_.end()};
}

void Loop::restore(Regime regime) {
  const std::lock_guard lock(mutex_);
  for (Regime& known : regimes_) {
    if (known.threads != regime.threads || known.magnitude != regime.magnitude) continue;
    if (const auto best = regime.policy.best(); best && !known.policy.best()) known.policy.remember(*best);
    return;
  }
  regime.version = 0;
  regime.plan = {};
  regime.policy = Policy(settings_.decision, regime.policy.best());
  regimes_.push_back(std::move(regime));
}

void Loop::remember(const Assignment& assignment) {
  const std::lock_guard lock(mutex_);
  recorded_.try_emplace(size_of(assignment), Recorded{assignment, false});
}

std::vector<Assignment> Loop::assignments() const {
  const std::lock_guard lock(mutex_);
  std::vector<Assignment> all;
  for (const auto& [size, recorded] : recorded_) all.push_back(recorded.assignment);
  return all;
}

}  // namespace steelyard::loops
