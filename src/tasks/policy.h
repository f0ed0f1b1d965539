// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tasks/overlay.h"
#include "tasks/rank_placement.h"

namespace steelyard::tasks {

/// Which processes of a pool share tasks, and how many at a time. This class is the default, `small-world`; the derived
/// classes in policies/ exist for comparison. One call at a time: from the thread that runs the pool, or
/// from its MessageThread.
class Policy {
 public:
  /// What a policy asks of its pool.
  class Host {
   public:
    virtual ~Host() = default;
    virtual int rank() const = 0;
    virtual const RankPlacement& placement() const = 0;
    /// The number of the current run, from 1.
    virtual std::uint64_t current_run() const = 0;
    /// Tasks spawned in this process so far.
    virtual std::uint64_t spawned_here() const = 0;
    /// From now on this process asks only its neighbours on these nodes, in ascending order, for tasks.
    virtual void ask_only(const std::vector<std::uint32_t>& nodes) = 0;
    /// Sends to `rank` what its policy's received() gets.
    virtual void send(int rank, std::uint64_t run, const std::vector<char>& bytes) = 0;
  };
  virtual ~Policy() = default;

  /// @param degree links of a node, at most; 0: chosen from the number of nodes
  virtual std::unique_ptr<Overlay> overlay(std::int64_t nodes, int degree) const;
  /// False: each process executes the tasks that it spawns.
  virtual bool moves_tasks() const { return true; }
  /// How many of the `available` tasks of a node one of `askers` processes of other nodes gets, from 1.
  ///
  /// @param fraction as in amount_to_give()
  virtual std::size_t amount(std::size_t available, std::size_t askers, double fraction) const;
  /// Processes with which this process may exchange messages, of which `peers` are those at the ends of its links.
  virtual std::size_t degree(const Host& host, const std::vector<int>& peers) const;

  virtual void run_begins(Host&) {}
  virtual void run_ends(Host&) {}
  /// A message that the policy of rank `from` has sent, in run `run`.
  virtual void received(Host&, [[maybe_unused]] int from, [[maybe_unused]] std::uint64_t run,
                        [[maybe_unused]] const char* bytes, [[maybe_unused]] std::size_t size) {}
};

/// The policy of this name; null if there is none. The names are in docs/tasks.md.
///
/// @param degree as given by the user; 0: chosen by the policy
std::unique_ptr<Policy> policy_named(std::string_view name, int degree);

}  // namespace steelyard::tasks
