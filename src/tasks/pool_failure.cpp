// SPDX-License-Identifier: BSD-3-Clause
// Pool: it detects that a run cannot be finished, and tells all nodes. Termination rounds would detect that only after
// all tasks have ended, and not at all if a process that takes part in them has died.
#include "tasks/pool_failure.h"

#include "tasks/pool.h"

namespace steelyard::tasks {
namespace {

// Both in ns; together with kDrain in Pool::run() below a second.
// Time between two checks of all processes of the node, by any of them: /proc/PID/stat takes 10 us per process, so 128
// processes take 0.6 % of one core.
constexpr std::int64_t kCheckEvery = 2 * MissingRanks::kEvery;
// A process that frees the pool waits for the others. After this time it tells the neighbours that it waits.
constexpr std::int64_t kLate = 5 * MissingRanks::kEvery;

}  // namespace

void Pool::check_for_failure(std::int64_t time) {
  NodeBlock& node = arena_->node();
  PoolFailure failure = PoolFailure::of(node.broken.load(std::memory_order_acquire));
  if (!failure.exists()) {
    if (time < next_check_) return;
    next_check_ = time + MissingRanks::kEvery;
    // One process of a node tells all neighbours, as in fail_run().
    if (leaving_ && time - leaves_at_ >= kLate && !node.neighbours_told.load(std::memory_order_relaxed) &&
        !node.neighbours_told.exchange(true, std::memory_order_relaxed)) {
      const ProcessBlock& me = arena_->process(transport_->node_rank());
      tell_neighbours(Kind::leaves, {static_cast<std::uint32_t>(run_), me.leaver()});
    }
    failure = failure_on_node(time);
    if (!failure.exists()) return;
  }
  if (failure.run > run_) return;
  // The other process may have ended after a run that is over, although this process has not yet seen the outcome.
  outcome_ = termination_->step(run_, false, time);
  if (outcome_) return;
  fail_run(failure);
  outcome_ = TerminationRounds::Outcome::failed;
}

PoolFailure Pool::failure_on_node(std::int64_t time) {
  NodeBlock& node = arena_->node();
  if (!leaving_) {
    const PoolFailure elsewhere = PoolFailure::of(node.left_elsewhere.load(std::memory_order_relaxed));
    if (elsewhere.exists() && elsewhere.run == run_) return elsewhere;
    for (int local = 0; local < arena_->processes(); ++local) {
      const ProcessBlock& process = arena_->process(local);
      if (process.entered.load(std::memory_order_acquire) != run_) continue;
      // acquire: the end of its last run is then visible, too
      if (process.leaving.load(std::memory_order_acquire) != 0)
        return {static_cast<std::uint32_t>(run_), process.leaver()};
    }
  }
  std::int64_t looked = node.last_check.load(std::memory_order_relaxed);
  if (time - looked < kCheckEvery || !node.last_check.compare_exchange_strong(looked, time)) return {};
  const std::uint64_t pid_namespace = arena_->process(transport_->node_rank()).life.pid_namespace;
  for (int local = 0; local < arena_->processes(); ++local) {
    const ProcessBlock& process = arena_->process(local);
    if (!node::is_alive(process.life, pid_namespace)) return {0, process.leaver()};
  }
  return {};
}

void Pool::fail_run(PoolFailure failure) {
  std::uint64_t none = 0;
  // The first process of a node that knows tells all processes of the neighbouring nodes: those that serve the links
  // may be in long tasks, or dead.
  if (arena_->node().broken.compare_exchange_strong(none, failure.packed(), std::memory_order_acq_rel))
    tell_neighbours(Kind::broken, failure);
}

void Pool::tell_neighbours(Kind kind, PoolFailure failure) {
  for (const Link& link : links_) {
    for (int local = 0; local < placement().node_size(link.node); ++local)
      send_message(placement().rank(link.node, local), kind, failure.packed(), {});
  }
}

void Pool::failure_reported(Kind kind, PoolFailure failure) {
  if (kind == Kind::broken) return fail_run(failure);
  // The failure of the latest run counts.
  std::atomic<std::uint64_t>& latest = arena_->node().left_elsewhere;
  std::uint64_t known = latest.load(std::memory_order_relaxed);
  while (known < failure.packed() && !latest.compare_exchange_weak(known, failure.packed(), std::memory_order_relaxed))
    continue;
  next_check_ = 0;
}

}  // namespace steelyard::tasks
