#pragma once
#include <cstdint>
#include <optional>

#include "tasks/arena.h"
#include "tasks/plan.h"
#include "tasks/routes.h"

namespace steelyard::tasks {

/// Finds out that all is over: waves of counts go up the tree of routes to node 0, verdicts come down. A node reports once
/// all its processes are in the run, once the nodes below it have, and once its speaker has nothing to do; so that waves
/// wait for work rather than disturb it. What a node has gathered lies in its shared memory, where any of its processes
/// adds what comes in over its links.
class Ending {
 public:
  /// What it says to others.
  class Voice {
   public:
    virtual ~Voice() = default;
    virtual void report(int rank, std::uint64_t wave, const Waves::Counts& counts) = 0;
    virtual void verdict(int rank, std::uint64_t wave, Waves::Verdict verdict, std::uint64_t leaver) = 0;
  };
  Ending(const Arena& arena, const Routes::Duties& duties, int ranks, Voice& voice)
      : arena_(arena), duties_(duties), ranks_(static_cast<std::uint64_t>(ranks)), voice_(voice) {}

  /// One look, at any time. `idle`: this process has nothing else to do. The verdict that ends this run, if there is one.
  std::optional<Waves::Verdict> step(std::uint64_t run, bool idle, std::int64_t now);
  void reported(const Waves::Counts& counts);
  void decided(std::uint64_t wave, Waves::Verdict verdict, std::uint64_t leaver);
  /// A process that frees the pool while others run it, as Waves::Counts has it: if the verdict is `torn`.
  std::uint64_t leaver() const { return arena_.node().last_leaver.load(std::memory_order_relaxed); }
  /// Waves that this process has seen.
  std::uint64_t waves() const { return seen_; }

 private:
  /// All processes of this node are in the run.
  bool is_complete(std::uint64_t run) const;
  Waves::Counts gather() const;
  void advance(std::uint64_t wave, Waves::Verdict verdict, std::uint64_t leaver);

  const Arena& arena_;
  const Routes::Duties& duties_;
  std::uint64_t ranks_;
  Voice& voice_;
  Waves waves_;  // at the root
  std::uint64_t seen_ = 0;
  std::uint64_t spoken_ = ~std::uint64_t{0};  // the last wave for which this process spoke
  std::int64_t not_before_ = 0, pace_ = 0;
};

}  // namespace steelyard::tasks
