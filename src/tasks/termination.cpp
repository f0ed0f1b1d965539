// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/termination.h"

#include <algorithm>

#include "wait/back_off.h"

namespace steelyard::tasks {
namespace {

// NodeBlock::round: the round whose counts are gathered, and the outcome of the previous round.
std::uint64_t pack(std::uint64_t round, TerminationRounds::Outcome outcome) {
  return round << 2 | static_cast<std::uint64_t>(outcome);
}

}  // namespace

std::optional<TerminationRounds::Outcome> TerminationDetection::step(std::uint64_t run, bool idle, std::int64_t now) {
  NodeBlock& node = arena_.node();
  const std::uint64_t word = node.round.load(std::memory_order_acquire);
  const std::uint64_t round = word >> 2;
  if (round != seen_) {
    const auto outcome = static_cast<TerminationRounds::Outcome>(word & 3);
    for (const int child : duties_.children) sender_.outcome(child, round, outcome, leaver());
    seen_ = round;
    if (outcome != TerminationRounds::Outcome::again) {
      idle_since_ = -1;
      return outcome;
    }
  }
  if (!duties_.reports || !idle || reported_ == round) return {};
  if (node.children.load(std::memory_order_acquire) != static_cast<std::uint64_t>(duties_.children_of_node)) return {};
  if (!is_complete(run)) return {};
  const bool root = duties_.parent < 0;
  if (root && now < not_before_) return {};
  const TerminationRounds::Counts counts = gather();
  reported_ = round;
  if (!root) {
    sender_.report(duties_.parent, round, counts);
  } else {
    // While other processes execute tasks, rounds follow at growing intervals, like the looks of idle processes for
    // tasks.
    if (idle_since_ < 0) idle_since_ = now;
    not_before_ = now + wait::kTask.sleep(now - idle_since_);
    advance(round + 1, rounds_.judge(counts, ranks_), counts.leaver);
  }
  return {};
}

bool TerminationDetection::is_complete(std::uint64_t run) const {
  for (int local = 0; local < arena_.processes(); ++local) {
    if (arena_.process(local).entered.load(std::memory_order_acquire) < run) return false;
  }
  return true;
}

TerminationRounds::Counts TerminationDetection::gather() const {
  const NodeBlock& node = arena_.node();
  TerminationRounds::Counts counts{
      node.spawned.load(std::memory_order_relaxed), node.finished.load(std::memory_order_relaxed),
      node.leaving.load(std::memory_order_relaxed), node.leaver.load(std::memory_order_relaxed)};
  for (int index = 0; index < arena_.blocks(); ++index) {
    const WorkerBlock& worker = arena_.worker(index);
    counts.finished += worker.finished.load(std::memory_order_acquire);
    counts.spawned += worker.spawned.load(std::memory_order_acquire);
  }
  // A process that leaves waits for messages, too: no message may be sent to a process that has left.
  for (int local = 0; local < arena_.processes(); ++local) {
    const ProcessBlock& process = arena_.process(local);
    if (process.leaving.load(std::memory_order_relaxed) == 0) continue;
    counts.leaving += 1;
    counts.leaver = std::max(counts.leaver, std::uint64_t{process.leaver()});
    counts.finished += process.received.load(std::memory_order_acquire);
    counts.spawned += process.sent_messages.load(std::memory_order_acquire);
  }
  return counts;
}

void TerminationDetection::reported(const TerminationRounds::Counts& counts) {
  NodeBlock& node = arena_.node();
  node.spawned.fetch_add(counts.spawned, std::memory_order_relaxed);
  node.finished.fetch_add(counts.finished, std::memory_order_relaxed);
  node.leaving.fetch_add(counts.leaving, std::memory_order_relaxed);
  std::uint64_t leaver = node.leaver.load(std::memory_order_relaxed);
  while (leaver < counts.leaver && !node.leaver.compare_exchange_weak(leaver, counts.leaver)) continue;
  node.children.fetch_add(1, std::memory_order_release);
}

void TerminationDetection::decided(std::uint64_t round, TerminationRounds::Outcome outcome, std::uint64_t leaver) {
  advance(round, outcome, leaver);
}

void TerminationDetection::advance(std::uint64_t round, TerminationRounds::Outcome outcome, std::uint64_t leaver) {
  NodeBlock& node = arena_.node();
  node.children.store(0, std::memory_order_relaxed);
  node.spawned.store(0, std::memory_order_relaxed);
  node.finished.store(0, std::memory_order_relaxed);
  node.leaving.store(0, std::memory_order_relaxed);
  node.leaver.store(0, std::memory_order_relaxed);
  node.last_leaver.store(leaver, std::memory_order_relaxed);
  node.round.store(pack(round, outcome), std::memory_order_release);
}

}  // namespace steelyard::tasks
