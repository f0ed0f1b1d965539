// SPDX-License-Identifier: BSD-3-Clause
// The part of Pool that notices that a run cannot be finished, and tells all nodes. The termination rounds would say so
// only when all tasks have ended, and not at all if a process that takes part in them has died.
#include "tasks/breach.h"

#include "tasks/pool.h"

namespace steelyard::tasks {
namespace {

// In ns; in sum below a second. A run that fails then sends what it has to tell, for up to kDrain of Pool::run().
// Between two looks at the processes of the node, of all its ranks together: /proc/PID/stat takes 10 us a process, so
// 128 processes take 0.6 % of one core.
constexpr std::int64_t kLookForDead = 2 * RollCall::kEvery;
// A process that frees the pool waits for the others, which come as late as they may: only then are neighbours told.
constexpr std::int64_t kLate = 5 * RollCall::kEvery;

}  // namespace

void Pool::look_for_breach(std::int64_t time) {
  NodeBlock& node = arena_->node();
  Breach breach = Breach::of(node.broken.load(std::memory_order_acquire));
  if (!breach.there()) {
    if (time < next_look_) return;
    next_look_ = time + RollCall::kEvery;
    // One process of a node tells all neighbours, as in break_off().
    if (leaving_ && time - leaves_at_ >= kLate && !node.late_told.load(std::memory_order_relaxed) &&
        !node.late_told.exchange(true, std::memory_order_relaxed)) {
      const ProcessBlock& me = arena_->process(transport_->node_rank());
      tell_neighbours(Kind::leaves, {static_cast<std::uint32_t>(run_), me.leaver()});
    }
    breach = breach_of_node(time);
    if (!breach.there()) return;
  }
  if (breach.run > run_) return;
  // A process may well end, and another learn of it, after a run that this process has not yet seen to be over.
  outcome_ = ending_->step(run_, false, time);
  if (outcome_) return;
  break_off(breach);
  outcome_ = TerminationRounds::Outcome::torn;
}

Breach Pool::breach_of_node(std::int64_t time) {
  NodeBlock& node = arena_->node();
  if (!leaving_) {
    const Breach far = Breach::of(node.left_far.load(std::memory_order_relaxed));
    if (far.there() && far.run == run_) return far;
    for (int local = 0; local < arena_->processes(); ++local) {
      const ProcessBlock& process = arena_->process(local);
      if (process.entered.load(std::memory_order_acquire) == run_ &&
          process.leaving.load(std::memory_order_acquire) != 0)  // then the end of its last run is seen, too
        return {static_cast<std::uint32_t>(run_), process.leaver()};
    }
  }
  std::int64_t looked = node.looked.load(std::memory_order_relaxed);
  if (time - looked < kLookForDead || !node.looked.compare_exchange_strong(looked, time)) return {};
  const std::uint64_t pid_namespace = arena_->process(transport_->node_rank()).life.pid_namespace;
  for (int local = 0; local < arena_->processes(); ++local) {
    const ProcessBlock& process = arena_->process(local);
    if (!node::is_alive(process.life, pid_namespace)) return {0, process.leaver()};
  }
  return {};
}

void Pool::break_off(Breach breach) {
  std::uint64_t none = 0;
  // The first process of a node tells the neighbours of the node, on which all processes are told, as those that
  // serve its links may be in long tasks or dead.
  if (arena_->node().broken.compare_exchange_strong(none, breach.packed(), std::memory_order_acq_rel))
    tell_neighbours(Kind::broken, breach);
}

void Pool::tell_neighbours(Kind kind, Breach breach) {
  for (const Link& link : links_) {
    for (int local = 0; local < places().node_size(link.node); ++local)
      send_message(places().rank(link.node, local), kind, breach.packed(), {});
  }
}

void Pool::hear_of(Kind kind, Breach breach) {
  if (kind == Kind::broken) return break_off(breach);
  // Runs follow each other, so the highest is the one that counts.
  std::atomic<std::uint64_t>& far = arena_->node().left_far;
  std::uint64_t known = far.load(std::memory_order_relaxed);
  while (known < breach.packed() && !far.compare_exchange_weak(known, breach.packed(), std::memory_order_relaxed))
    continue;
  next_look_ = 0;
}

}  // namespace steelyard::tasks
