// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "tasks/arena.h"
#include "tasks/plan.h"
#include "tasks/routes.h"

namespace steelyard::tasks {

/// Detects the end of a run, in termination rounds. In each round, counts go up the tree of routes to node 0, and
/// outcomes come down. A node reports after all its processes have entered the run, after the nodes below it have
/// reported, and when the process that reports for the node is idle: rounds wait for tasks and do not delay them. The
/// counts of a node are in its shared memory, where any of its processes adds the counts that arrive over its links.
class TerminationDetection {
 public:
  /// Sends to other nodes.
  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void report(int rank, std::uint64_t round, const TerminationRounds::Counts& counts) = 0;
    virtual void outcome(int rank, std::uint64_t round, TerminationRounds::Outcome outcome, std::uint64_t leaver) = 0;
  };
  TerminationDetection(const Arena& arena, const Routes::Duties& duties, int ranks, Sender& sender)
      : arena_(arena), duties_(duties), ranks_(static_cast<std::uint64_t>(ranks)), sender_(sender) {}

  /// One step; may be called at any time.
  /// @param idle this process has nothing else to do
  /// @return the outcome that ends this run, if there is one
  std::optional<TerminationRounds::Outcome> step(std::uint64_t run, bool idle, std::int64_t now);
  /// A node below this one has reported its counts.
  void reported(const TerminationRounds::Counts& counts);
  /// The node above this one has sent the outcome of a round.
  void decided(std::uint64_t round, TerminationRounds::Outcome outcome, std::uint64_t leaver);
  /// After the outcome `failed`: a process that frees the pool while others run it, as in TerminationRounds::Counts.
  std::uint64_t leaver() const { return arena_.node().last_leaver.load(std::memory_order_relaxed); }
  /// Termination rounds that this process has seen.
  std::uint64_t rounds() const { return seen_; }

 private:
  /// True if all processes of this node have entered the run.
  bool is_complete(std::uint64_t run) const;
  TerminationRounds::Counts gather() const;
  void advance(std::uint64_t round, TerminationRounds::Outcome outcome, std::uint64_t leaver);

  const Arena& arena_;
  const Routes::Duties& duties_;
  std::uint64_t ranks_;
  Sender& sender_;
  TerminationRounds rounds_;  // at the root
  std::uint64_t seen_ = 0;
  std::uint64_t reported_ = ~std::uint64_t{0};  // the last round that this process reported
  std::int64_t not_before_ = 0;                 // at the root: time of the next round
  std::int64_t idle_since_ = -1;                // at the root: time of the first round of this run; -1: there was none
};

}  // namespace steelyard::tasks
