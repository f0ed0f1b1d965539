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

/// Finds the ranks for which a run waits, on all nodes, once it has been waiting for long. A process reads in shared
/// memory which ranks of its own node are missing. It receives the missing ranks of other nodes over the links of the
/// tree: each link server sends its neighbours the ranks that are missing on its side of the link, and sends them again
/// when they change.
///
/// A neighbour counts as missing if it does not answer a question. It cannot answer while it executes a task: so each
/// process announces itself to its neighbours before its first task, or its first result, of a run. A run without tasks
/// sends nothing.
class RollCall {
 public:
  struct Absent {
    std::int32_t rank = 0;
    std::int32_t world = 0;  ///< its rank in MPI_COMM_WORLD, for messages
    auto operator<=>(const Absent&) const = default;
  };
  using List = std::vector<Absent>;
  static constexpr std::size_t kMost = ProcessBlock::kFar;  ///< ranks of a list; more are left out

  /// ns between two probes for changes
  static constexpr std::int64_t kEvery = base::kUnnoticed;

  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void send_list(int rank, bool question, const List& absent) = 0;
    virtual int world_rank(int rank) const = 0;
  };
  /// `local`: this process in its node.
  RollCall(const Arena& arena, int local, const Routes& routes, const Routes::Duties& duties, Sender& sender);

  void begin(std::uint64_t run);
  /// Before whatever may keep this process from answering.
  void announce() {
    if (!announced_) announce_now();
  }
  /// Takes the list that neighbour `from` has sent: the ranks that are missing on its side. Answers a question.
  void received(int from, std::uint64_t run, bool question, const List& absent);
  /// One probe, while this process has had nothing else to do for `waited` ns.
  /// @return the ranks that are missing, in MPI_COMM_WORLD; none before the wait is long
  std::vector<int> step(std::int64_t now, std::int64_t waited);

 private:
  void announce_now();
  void send(int neighbour, bool question);
  List side_of(int neighbour) const;
  void publish() const;
  bool is_silent(int neighbour) const;

  const Arena& arena_;
  const int local_;
  const Routes& routes_;
  Sender& sender_;
  std::vector<int> neighbours_;  // in the tree, of those that this process serves
  std::uint64_t run_ = 0;
  bool announced_ = false, active_ = false, late_ = false;
  std::int64_t asked_at_ = -1, next_ = 0;
  std::map<int, std::uint64_t> last_run_;  // by neighbour: the last run that it is known to have entered
  std::map<int, List> received_, sent_;    // by neighbour, in this run
  std::set<int> to_answer_;                // neighbours that have asked for a run that this process had not entered
};

}  // namespace steelyard::tasks
