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

/// To a root of a tree: what is new of a node.
struct Report {
  std::int64_t tree = 0;
  std::int64_t leader = 0;  ///< rank in the tree's communicator
  std::int64_t which = -1;  ///< size class that the waits are of; -1: it tells the rest
  Waits library, by_tree;
  std::int64_t value = 0;       ///< see Reporter
  std::int64_t successor = -1;  ///< a rank of its node that comes earlier
  std::int64_t others = 0;  ///< 1 if another rank of its node is late, which would delay others elsewhere in the tree
};

/// What all trees send. They share one port, as an MPI library has room for some thousands of communicators only, which
/// belong to the program. Each tree has contexts of its own, so the ranks need not agree when the program frees a
/// communicator, which may happen inside the MPI library: no other tree receives the messages of a freed tree.
class Post {
 public:
  /// Collective over `world`, of which all trees' members are. Both arguments outlive it.
  Post(port::Messages& messages, port::Exchange& world);
  /// Collective. Waits until what was sent has arrived.
  ~Post();
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  port::Messages& messages() const { return messages_; }

  /// Of the process with this world rank. All trees share it: to compare clocks again for each communicator would cost
  /// several collectives, more than a communicator that is freed soon is used for.
  ClockOffset& clock(int world_rank) { return clocks_[static_cast<std::size_t>(world_rank)]; }

  /// Numbers of trees. The next that is new to this rank; the highest of its members' is new to all of them.
  std::int64_t next_number() const { return next_; }
  void used(std::int64_t number) { next_ = number + 1; }
  /// There are no contexts for it.
  bool is_too_high(std::int64_t number) const;
  enum class Kind { head, row, local };
  static int context(std::int64_t number, Kind kind) {
    return static_cast<int>(kKinds * number) + 1 + static_cast<int>(kind);
  }

  void open(std::int64_t number, Tree& tree) { trees_[number] = &tree; }
  void close(std::int64_t number) { trees_.erase(number); }
  /// `report` must stay until the request is done.
  void send(const Report& report, int world_rank, port::Request& request);
  /// Gives those that have come to their trees.
  void hear_reports();

 private:
  static constexpr int kReport = 0;  // Encoding: the context of reports
  static constexpr int kKinds = 3;   // Size: of Kind
  void heard(const Report& report);
  void compare_clocks();

  port::Messages& messages_;
  port::Exchange& world_;
  std::int64_t next_ = 0;
  std::map<std::int64_t, Tree*> trees_;
  std::vector<std::int64_t> sent_;   // reports by world rank
  std::vector<ClockOffset> clocks_;  // by world rank
  std::int64_t heard_ = 0;
};

}  // namespace steelyard::collectives
