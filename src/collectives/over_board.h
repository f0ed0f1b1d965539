// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "collectives/call.h"
#include "collectives/engine.h"

// What broadcasts and scatters have in common at a broadcast buffer (board.h).
namespace steelyard::collectives {

/// One collective at this rank, in which one root has data for the other ranks.
class OverBoard {
 protected:
  using Next = Comparison::Next;

  OverBoard(Operation operation, int root, Group& group, Call& call)
      : group_(group), call_(call), account_(group.engine->account()), root_(root), operation_(operation) {}

  bool is_root() const { return group_.rank == root_; }

  /// At a leader or root, once the data are in place. Wakes ranks that sleep until this rank arrives.
  void arrive_with_data() { call_.arrive(root_, false); }
  /// The MPI library is called next. `after_root`: the root's notice said so.
  Outcome by_library(bool after_root);
  /// The collective has no data, so no rank waits. The root still publishes its notice; the other ranks read it at the
  /// next collective.
  void pass_over();
  /// pass_over() at a call that ends there. Returns `outcome`.
  Outcome without_data(Outcome outcome);

  /// At the root, which arrived at `came` (ns) with `bytes` bytes. Claims the collective, and waits for memory.
  /// Returns nothing if another rank has claimed it: Outcome::wrong_root is next.
  struct Begun {
    Next next;
    int which = 0;
    char* row = nullptr;  ///< where the data go; null: the library delivers them
  };
  std::optional<Begun> begin(std::size_t bytes, std::int64_t came);
  /// Publishes all of `layout`, in pieces, so that giving and taking overlap and stay in a core's own cache. Returns
  /// false if the data cannot be packed; then nothing is published.
  bool give_all(const Begun& begun, const port::Layout& layout, std::int64_t came);
  /// Instead of give_all(): tells all ranks to call the library.
  Outcome leave(const Begun& begun, std::size_t bytes, std::int64_t came);

  /// Waits until rank `from` has published, and returns its notice. Returns nullptr if that rank cannot publish any
  /// more, if another rank is the root, or if there is nothing to take: Outcome::wrong_root is next.
  const Notice* await_notice(int from);
  /// Times the library from now on if `counted`. Not before this rank and the root have come and the notice has reached
  /// this rank: most collectives that the library delivers have no notice.
  void time_library(bool counted, int which);
  /// For the record: why the library delivered this collective of so many bytes. `most`: bytes that Steelyard takes.
  void note_why_library(std::size_t bytes, std::size_t most) const;
  /// Notes the wait since `since` of a collective that Steelyard delivered. Returns `outcome`.
  Outcome measured(std::int64_t since, bool counted, int which, Outcome outcome);
  bool is_compared() const { return group_.compares || group_.tree != nullptr; }

  Group& group_;
  Call& call_;
  Account& account_;
  const int root_;

 private:
  Operation operation_;
};

/// At each collective on the group that Steelyard may deliver, at all ranks alike. Returns false if a root has left it
/// to the library.
bool is_decided_here(Group& group);

}  // namespace steelyard::collectives
