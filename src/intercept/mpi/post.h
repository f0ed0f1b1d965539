// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <cstdint>
#include <map>
#include <vector>

#include "collectives/clock_offset.h"
#include "collectives/comparison.h"

namespace steelyard::intercept {

class Tree;

/// To a root of a tree: what is new of a node.
struct Report {
  std::int64_t tree = 0;
  std::int64_t leader = 0;  ///< rank in the tree's communicator
  std::int64_t which = -1;  ///< size class that the waits are of; -1: it tells the rest
  collectives::Waits library, by_tree;
  std::int64_t value = 0;       ///< see collectives::Reporter
  std::int64_t successor = -1;  ///< a rank of its node that comes earlier
  std::int64_t others = 0;      ///< whether another of its node is late, who holds up nobody here, but would elsewhere
};

/// What all trees send. One communicator for all of them, as an MPI library has room for some thousands only, which are
/// the program's. And so nothing has to be agreed upon when one of the program's communicators goes, which may be at
/// any time, even inside of the library: messages of a tree that is gone are met by no other's.
class Post {
 public:
  /// Collective over `world`, of which all trees' members are.
  explicit Post(MPI_Comm world);
  /// Collective. Waits until what was sent has arrived.
  ~Post();
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  MPI_Comm comm() const { return comm_; }

  /// Of the process with this world rank. All trees share it: to compare clocks again for each communicator would cost
  /// several collectives, more than a communicator that is freed soon is used for.
  collectives::ClockOffset& clock(int world_rank) { return clocks_[static_cast<std::size_t>(world_rank)]; }

  /// Numbers of trees. The next that is new to this rank; the highest of its members' is new to all of them.
  std::int64_t next_number() const { return next_; }
  void used(std::int64_t number) { next_ = number + 1; }
  /// The library has no tags for it.
  bool is_too_high(std::int64_t number) const;
  enum class Kind { head, row, local };
  static int tag(std::int64_t number, Kind kind) {
    return static_cast<int>(kKinds * number) + 1 + static_cast<int>(kind);
  }

  void open(std::int64_t number, Tree& tree) { trees_[number] = &tree; }
  void close(std::int64_t number) { trees_.erase(number); }
  /// `report` must stay until the request has ended.
  void send(const Report& report, int world_rank, MPI_Request& request);
  /// Gives those that have come to their trees.
  void hear_reports();

 private:
  static constexpr int kReport = 0, kKinds = 3;
  void hear_report();
  void compare_clocks(int size);

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::int64_t highest_tag_ = 32767;
  std::int64_t next_ = 0;
  std::map<std::int64_t, Tree*> trees_;
  std::vector<int> sent_;                         // reports by world rank
  std::vector<collectives::ClockOffset> clocks_;  // by world rank
  int heard_ = 0;
};

}  // namespace steelyard::intercept
