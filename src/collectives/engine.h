// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include "collectives/account.h"
#include "collectives/broadcasting.h"
#include "collectives/group.h"
#include "collectives/post.h"
#include "port/agreement.h"
#include "port/layout.h"
#include "port/messages.h"
#include "port/progress.h"

// Broadcasts and scatters by Steelyard: through shared memory inside a node (board.h), along a tree between nodes
// (tree.h). What the engine needs from MPI is in src/port. The MPI library's own broadcast is no part of that port:
// after Outcome::library the caller calls it, at all ranks, by the binding by which the program called.
namespace steelyard::collectives {

/// How a collective has ended at this rank.
enum class Outcome {
  done,
  library,     ///< the caller calls the MPI library's own collective, at all ranks
  wrong_root,  ///< the root names another root, or calls another operation
  truncated,   ///< the root sent more bytes than this rank's buffer takes
  fewer,       ///< the root sent fewer bytes than this rank expects; those bytes are in place
  wrong_type,  ///< the MPI library refuses to pack the type
  no_address   ///< the count is positive, but the buffer is null
};

class Call;

/// What the collectives of all communicators of a process share.
class Engine {
 public:
  /// @param library,account outlive it
  Engine(const Broadcasting& chosen, Account& account, port::Progress& library)
      : chosen_(chosen), account_(account), library_(library) {}
  /// Collective if there are trees: blocks until all their messages have arrived.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Trees can be made from now on. Collective over the world.
  /// @param messages,world of all trees' ranks; outlive the engine
  void use_trees(port::Messages& messages, port::Exchange& world);

  /// For a group whose ranks, world_ranks and local_members are known.
  /// `board`: the group's shared-memory broadcast buffer, or null
  void add_group(Group& group, std::unique_ptr<Board> board);
  /// This rank calls no further collective on the group. Does not call the MPI library, which may be inside another
  /// call, and does not wait for other ranks, which may free the communicator much later.
  void remove_group(Group& group);

  const Broadcasting& chosen() const { return chosen_; }
  Account& account() { return account_; }
  port::Progress& library() { return library_; }

 private:
  friend bool takes_broadcast(Group&, port::Exchange&);
  void make_tree(Group& group, port::Exchange& ranks);
  void end_tree(Group& group);

  Broadcasting chosen_;
  Account& account_;
  port::Progress& library_;
  std::unique_ptr<Post> post_;  // if there may be trees
  std::vector<Group*> groups_with_tree_;
  std::vector<std::unique_ptr<Tree>> ended_trees_;  // of removed groups: some messages may not have arrived yet
};

/// At each valid broadcast of the group. Returns the same at all ranks. Collective, and blocks, at the broadcast at
/// which the tree is made.
/// @param ranks of the group
/// @return true if the caller calls broadcast(), false if it calls the MPI library
bool takes_broadcast(Group& group, port::Exchange& ranks);
/// At the root: sends the data. At the other ranks: waits for the data.
/// @pre takes_broadcast(), at this call
/// @param layout of the rank's buffer
Outcome broadcast(Group& group, const port::Layout& layout, int root, Call& call);
/// For the record: why the MPI library handles a broadcast that Steelyard was to deliver. After takes_broadcast() was
/// false.
void note_left_broadcast(const Group& group);

/// The same for scatters.
bool takes_scatter(Group& group);
struct Scattered {
  const port::Layout& mine;  ///< this rank's block; no elements at a root that keeps its own where it is
  bool keeps_its_own;
  // At the root alone.
  const port::Layout* block;  ///< the block of one rank
  const port::Layout* all;    ///< those of all ranks: the blocks follow each other as the elements of one do
};
Outcome scatter(Group& group, const Scattered& buffers, int root, Call& call);

/// Its lifetime spans a call of the library's own collective after Outcome::library. Notes how long the call took, if
/// OverBoard::time_library() asked for this.
class LibraryTimer {
 public:
  LibraryTimer(Group& group, Call& call) : group_(group), call_(call) {}
  ~LibraryTimer() {
    if (group_.timed_since != 0) note();
  }
  LibraryTimer(const LibraryTimer&) = delete;
  LibraryTimer& operator=(const LibraryTimer&) = delete;

 private:
  void note();

  Group& group_;
  Call& call_;
};

}  // namespace steelyard::collectives
