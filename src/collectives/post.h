// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "collectives/clock_offset.h"
#include "collectives/comparison.h"
#include "port/agreement.h"
#include "port/messages.h"

namespace steelyard::collectives {

class Tree;

/// What a leader reports to a root of a tree about its node.
struct Report {
  std::int64_t tree = 0;
  std::int64_t leader = 0;  ///< rank in the tree's communicator
  std::int64_t which = -1;  ///< size class of the waits; -1: the report has the members below instead
  Waits library, by_tree;
  std::int64_t value = 0;       ///< see Reporter
  std::int64_t successor = -1;  ///< a rank of its node that arrives earlier; -1: none
  std::int64_t others = 0;  ///< 1 if another rank of its node is late, which would delay others elsewhere in the tree
};

/// The messages of all trees. All trees share one communicator: an MPI library has room for some thousands, which the
/// program may need. Each tree has contexts of its own, so no tree receives messages of another one. Ranks therefore
/// need not agree on when the program frees a communicator, which may happen inside the MPI library.
class Post {
 public:
  /// Collective over `world`, of which all trees' members are. Both arguments outlive it.
  Post(port::Messages& messages, port::Exchange& world);
  /// Collective. Blocks until all reports have arrived.
  ~Post();
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  port::Messages& messages() const { return messages_; }

  /// Clock of the process with this world rank. All trees share it: comparing clocks for each communicator would cost
  /// several collectives, more than a short-lived communicator executes.
  ClockOffset& clock(int world_rank) { return clocks_[static_cast<std::size_t>(world_rank)]; }

  /// Number for the next tree, not used at this rank yet. The highest of all members' numbers is unused at all members.
  std::int64_t next_number() const { return next_; }
  void used(std::int64_t number) { next_ = number + 1; }
  /// True if the MPI library has no contexts for a tree of this number.
  bool is_too_high(std::int64_t number) const;
  enum class Kind { head, row, local };
  static int context(std::int64_t number, Kind kind) {
    return static_cast<int>(kKinds * number) + 1 + static_cast<int>(kind);
  }

  void open(std::int64_t number, Tree& tree) { trees_[number] = &tree; }
  void close(std::int64_t number) { trees_.erase(number); }
  /// `report` must stay until the request is done.
  void send(const Report& report, int world_rank, port::Request& request);
  /// Passes the reports that have arrived to their trees. Does not block.
  void take_reports();

 private:
  static constexpr int kReport = 0;  // Encoding: the context of reports
  static constexpr int kKinds = 3;   // Size: of Kind
  void deliver(const Report& report);
  void compare_clocks();

  port::Messages& messages_;
  port::Exchange& world_;
  std::int64_t next_ = 0;
  std::map<std::int64_t, Tree*> trees_;
  std::vector<std::int64_t> sent_;   // reports by world rank
  std::vector<ClockOffset> clocks_;  // by world rank
  std::int64_t received_ = 0;
};

}  // namespace steelyard::collectives
