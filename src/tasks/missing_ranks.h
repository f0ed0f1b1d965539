// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/complaint.h"
#include "tasks/arena.h"
#include "tasks/routes.h"

namespace steelyard::tasks {

/// Finds the ranks, on all nodes, that a run waits for, once it has waited for long. A process reads in shared
/// memory which ranks of its own node are missing. It receives the missing ranks of other nodes over the links of the
/// tree: each link server sends its neighbours the ranks that are missing on its side of the link, and sends them again
/// when they change.
///
/// A neighbour counts as missing if it does not answer a question. It cannot answer while it executes a task: so each
/// process announces itself to its neighbours before its first task, or its first result, of a run. A run without tasks
/// sends nothing.
class MissingRanks {
 public:
  /// A rank that has not entered the run.
  struct Absent {
    std::int32_t rank = 0;
    std::int32_t world = 0;  ///< its rank in MPI_COMM_WORLD, for the warning
    auto operator<=>(const Absent&) const = default;
  };
  using List = std::vector<Absent>;
  static constexpr std::size_t kMost = ProcessBlock::kMissingElsewhere;  ///< ranks in a list; more are left out

  /// ns between two probes for changes
  static constexpr std::int64_t kEvery = base::kUnnoticed;

  /// Sends lists to other nodes.
  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void send_list(int rank, bool question, const List& absent) = 0;
    virtual int world_rank(int rank) const = 0;
  };
  /// @param local the number of this process in its node
  MissingRanks(const Arena& arena, int local, const Routes& routes, const Routes::Duties& duties, Sender& sender);

  /// This process enters a run.
  void begin(std::uint64_t run);
  /// Tells the neighbours that this process has entered the run. To be called before anything that may keep it from
  /// answering.
  void announce() {
    if (!announced_) announce_now();
  }
  /// Takes the list that neighbour `from` has sent: the ranks that are missing on its side. Answers a question.
  void received(int from, std::uint64_t run, bool question, const List& absent);
  /// Looks for changes and sends them. This process has had nothing else to do for `waited` ns.
  /// @return missing ranks, by their ranks in MPI_COMM_WORLD; none before the wait is long
  std::vector<int> step(std::int64_t now, std::int64_t waited);

 private:
  void announce_now();
  void send(int neighbour, bool question);
  /// The missing ranks on this side of the link to a neighbour; -1: all missing ranks.
  List side_of(int neighbour) const;
  /// Writes the missing ranks of other nodes into shared memory.
  void publish() const;
  /// True for a neighbour that has not answered a question.
  bool is_silent(int neighbour) const;

  const Arena& arena_;
  const int local_;
  const Routes& routes_;
  Sender& sender_;
  std::vector<int> neighbours_;  // in the tree, over links that this process serves
  std::uint64_t run_ = 0;
  bool announced_ = false;
  bool active_ = false;  // a rank is missing, or the wait is long
  bool late_ = false;    // the time for answers is over
  std::int64_t asked_at_ = -1, next_ = 0;
  std::map<int, std::uint64_t> last_run_;  // by neighbour: the last run that it is known to have entered
  std::map<int, List> received_, sent_;    // by neighbour, in this run
  std::set<int> to_answer_;                // neighbours that have asked about a run before this process entered it
};

}  // namespace steelyard::tasks
