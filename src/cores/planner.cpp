// SPDX-License-Identifier: BSD-3-Clause
#include "cores/planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/clock.h"
#include "cores/sabo.h"

namespace steelyard::cores {

using observe::Tick;
using observe::TickBoard;
using observe::TickSource;

namespace {

const std::string kNoMove = "no move";

std::unique_ptr<Rule> make_rule(const PolicyOptions& options) {
  if (options.sabo) return std::make_unique<Sabo>(options.every, options.at);
  return std::make_unique<Policy>(options);
}

}  // namespace

Planner::Planner(const PolicyOptions& options, const node::Process* processes, int count)
    : options_(options), rule_(make_rule(options)), processes_(processes), count_(count) {}

// False if the ticks are gone, or if the cores of a process changed in between: such a window tells nothing about the
// counts before or after.
bool Planner::read(const TickBoard& ticks, TickSource source, std::int64_t from, std::int64_t to, std::int64_t start,
                   const NodeShape& shape, Window& window) const {
  std::int64_t begin = 0, end = 0;
  for (int p = 0; p < count_; ++p) {
    const node::Process& process = processes_[p];
    ProcessLoad load;
    load.ceiling = std::max(1, process.thread_ceiling.load(std::memory_order_relaxed));
    load.fixed = process.fixed.load(std::memory_order_relaxed) != 0;
    const std::vector<int>& held = shape.held[static_cast<std::size_t>(p)];
    const int owned = std::accumulate(held.begin(), held.end(), 0);
    load.threads = std::max(1, owned);
    // A rank without OpenMP has no regions to count: it keeps its core.
    if (source == TickSource::region && ticks.count(p, source) == 0) {
      load.fixed = true;
      window.loads.push_back(load);
      continue;
    }
    Tick first, last;
    if (!ticks.read(p, source, from, first) || !ticks.read(p, source, to, last)) return false;
    if (first.threads != last.threads) return false;
    load.threads = static_cast<int>(last.threads);
    if (settling_ && load.threads != owned) return false;
    // Another core would be of no use in this rank's pool, and missing in the giver's. The rank keeps its cores.
    const int pool_threads = std::max(process.pool_threads.load(std::memory_order_relaxed), load.threads);
    load.in_pool = process.pool_threads.load(std::memory_order_relaxed) > 0 && pool_threads < load.ceiling;
    if (load.in_pool) load.ceiling = pool_threads;
    load.parallel = base::seconds(last.region_useful - first.region_useful);
    load.region_wall = base::seconds(last.region_wall - first.region_wall);
    load.serial = base::seconds(last.serial - first.serial);
    load.wait = base::seconds(last.mpi - first.mpi);
    window.loads.push_back(load);
    begin = std::max(begin, first.time);
    end = std::max(end, last.time);
  }
  window.elapsed = base::seconds(end - begin);
  window.time = base::seconds(end - start);
  return window.elapsed > 0;
}

// True if steps take at least twice as long as before: a window was planned for shorter steps, and ends early. While a
// program sets up, collectives look like steps of some 0.1 ms, of which a window has hundreds.
bool Planner::took_long(const TickBoard& ticks, std::int64_t newest) const {
  const double wanted = rule_->seconds_wanted();
  Tick first, last;
  if (wanted <= 0 || !ticks.read(0, source_, from_, first) || !ticks.read(0, source_, newest, last)) return false;
  return base::seconds(last.time - first.time) > 2 * wanted;
}

const Plan* Planner::consider(const TickBoard& ticks, TickSource source, int ticks_per_step, std::int64_t start,
                              const std::function<NodeShape()>& shape) {
  std::int64_t newest = INT64_MAX;
  for (int p = 0; p < count_; ++p) {
    if (processes_[p].finished.load(std::memory_order_relaxed) != 0) return nullptr;
    const std::int64_t count = ticks.count(p, source);
    if (source != TickSource::region || count > 0) newest = std::min(newest, count - 1);
  }
  if (newest == INT64_MAX || newest < 0) return nullptr;
  const std::int64_t period = std::max(1, ticks_per_step);
  if (source != source_ || period != ticks_per_step_ || from_ < 0) {
    if (from_ >= 0) before_ = after_ = {};  // steps of another kind; the rule notices them as other loads
    source_ = source;
    ticks_per_step_ = static_cast<int>(period);
    from_ = std::max<std::int64_t>(0, newest - period);  // what was missed so far may already be a window
    return nullptr;
  }
  const std::int64_t wanted = std::min(period * rule_->steps_wanted(), TickBoard::kKept / 2 / period * period);
  if (newest - from_ < period || (newest - from_ < wanted && !took_long(ticks, newest))) return nullptr;
  const std::int64_t to = from_ + (newest - from_) / period * period;
  Window window;
  window.steps = static_cast<int>((to - from_) / period);
  steps_ += window.steps;
  const NodeShape now = shape();
  const bool clean = read(ticks, source, from_, to, start, now, window);
  from_ = to;
  if (!clean) return nullptr;
  settling_ = false;
  (moved_ ? after_ : before_).add(window.elapsed / window.steps);
  verdict_ = rule_->consider(window, now);
  note(verdict_, window);
  return verdict_.action == Action::none ? nullptr : &verdict_.plan;
}

void Planner::note(const Verdict& verdict, const Window& window) {
  const bool undecided = verdict.undecided && verdict.action != Action::undo;
  if (verdict.judged || undecided) {
    const auto last = std::find_if(decisions_.rbegin(), decisions_.rend(),
                                   [](const auto& decision) { return decision.outcome == observe::Outcome::taken; });
    if (last != decisions_.rend()) {
      last->outcome = undecided        ? observe::Outcome::undecided
                      : verdict.helped ? observe::Outcome::confirmed
                                       : observe::Outcome::undone;
      last->measured_gain = verdict.measured_gain;
      last->measured_low = verdict.measured.low;
      last->measured_high = verdict.measured.high;
    }
  }
  if (verdict.action == Action::undo) {
    // Not judged: the counts of the start are restored, as the loads change faster than moves pay.
    if (!verdict.judged) undo_open_moves();
    after_ = {};
    moved_ =
        verdict.judged && std::any_of(present(), decisions_.end(), [](const auto& decision) {
          return decision.outcome == observe::Outcome::confirmed || decision.outcome == observe::Outcome::undecided;
        });
    return;
  }
  observe::DecisionRecord decision;
  decision.time = window.time;
  decision.capability = "cores";
  decision.reason = verdict.reason;
  decision.forecast_gain = verdict.forecast_gain;
  decision.forecast_low = verdict.forecast_gain - verdict.noise;
  decision.forecast_high = verdict.forecast_gain + verdict.noise;
  decision.cost = verdict.cost;
  if (verdict.action == Action::apply) {
    std::vector<int> threads;
    for (const ProcessLoad& load : window.loads) threads.push_back(load.threads);
    decision.what = fmt::format("threads {} -> {}", fmt::join(threads, ","), fmt::join(verdict.plan.threads, ","));
    decision.outcome = observe::Outcome::taken;
    decisions_.push_back(decision);
    moved_ = true;
    after_ = {};
    return;
  }
  // Refusals in a row are one decision with a count.
  decision.what = kNoMove;
  if (!decisions_.empty() && decisions_.back().what == kNoMove) {
    decision.repeats = decisions_.back().repeats + 1;
    decisions_.pop_back();
  }
  decisions_.push_back(decision);
}

void Planner::undo_open_moves() {
  std::for_each(present(), decisions_.end(), [](auto& decision) {
    if (decision.outcome == observe::Outcome::taken || decision.outcome == observe::Outcome::undecided)
      decision.outcome = observe::Outcome::undone;
  });
}

void Planner::requested(observe::DecisionRecord decision) {
  if (decision.outcome == observe::Outcome::requested) {
    std::for_each(present(), decisions_.end(), [](auto& move) {
      if (move.outcome == observe::Outcome::taken) move.outcome = observe::Outcome::undecided;
    });
    since_ = decisions_.size();
    forget();
    before_ = {};
    settling_ = true;
  }
  decisions_.push_back(std::move(decision));
}

void Planner::start_again(double time, int rank) {
  undo_open_moves();
  observe::DecisionRecord decision;
  decision.time = time;
  decision.capability = "cores";
  decision.what = "thread counts of the start restored";
  decision.reason = fmt::format("the thread count of rank {} must not change any more", rank);
  decision.outcome = observe::Outcome::undone;
  decisions_.push_back(decision);
  forget();
}

void Planner::forget() {
  rule_ = make_rule(options_);
  after_ = {};
  moved_ = false;
  from_ = -1;
}

void Planner::report(observe::NodeRecord& node, std::vector<observe::DecisionRecord>& decisions,
                     const NodeShape& shape) const {
  static constexpr const char* kSources[] = {"steelyard_step", "collectives", "regions"};
  node.phases = steps_;
  node.phase_source = steps_ > 0 ? kSources[static_cast<int>(source_)] : "none";
  const auto describe = [this](const Length& length, double& mean, double& low, double& high) {
    const decide::Interval interval = length.interval(options_.decision.confidence);
    mean = length.mean();
    low = interval.low;
    high = interval.high;
  };
  describe(before_, node.phase_before, node.phase_before_low, node.phase_before_high);
  const auto lasting_reason = [&] {
    const bool all_fixed = std::all_of(processes_, processes_ + count_, [](const node::Process& process) {
      return process.fixed.load(std::memory_order_relaxed) != 0;
    });
    return immovable_reason(static_cast<std::size_t>(count_), all_fixed, shape);
  };
  if (moved_) {
    describe(after_, node.phase_after, node.phase_after_low, node.phase_after_high);
  } else if (steps_ == 0) {
    // Steps would not help where no core can move in any case.
    node.nothing_moved = lasting_reason();
    if (node.nothing_moved.empty())
      node.nothing_moved =
          "no steps were found: neither collectives nor regions repeat alike in all ranks (with "
          "MPI_THREAD_MULTIPLE, collectives count on MPI_COMM_WORLD alone); call steelyard_step() at the end of each "
          "time step";
  } else {
    const auto last = std::find_if(decisions_.rbegin(), decisions_.rend(), [](const auto& decision) {
      const bool refused = decision.outcome == observe::Outcome::declined && decision.what != kNoMove;
      return decision.outcome != observe::Outcome::requested && !refused;
    });
    if (last != decisions_.rend()) node.nothing_moved = last->reason;
    // OpenMP may have been loaded since.
    if (node.nothing_moved == observe::kNoOpenMp && shape.openmp) node.nothing_moved = lasting_reason();
    if (node.nothing_moved.empty()) node.nothing_moved = "the run ended before the loads were known";
  }
  decisions.insert(decisions.end(), decisions_.begin(), decisions_.end());
  for (auto& decision : decisions) decision.node = node.index;
}

}  // namespace steelyard::cores
