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
  library,     ///< the MPI library's own is to be called, at all ranks
  wrong_root,  ///< the root does not take itself for the root, or the root's call is another operation
  truncated,   ///< the root has given more bytes than fit
  fewer,       ///< the root has given fewer bytes than this rank asked for; the data are in place
  wrong_type,  ///< the MPI library refuses to pack the type
  no_address   ///< there are elements, but no buffer
};

class Call;

/// What the collectives of all communicators of a process share.
class Engine {
 public:
  /// @param library,account outlive it
  Engine(const Broadcasting& chosen, Account& account, port::Progress& library)
      : chosen_(chosen), account_(account), library_(library) {}
  /// Collective if there are trees: blocks until their messages are through.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Trees can be made from now on. Collective over the world.
  /// @param messages,world of all trees' ranks; outlive the engine
  void use_trees(port::Messages& messages, port::Exchange& world);

  /// For a group whose ranks, world_ranks and local_members are known.
  /// `board`: the group's shared-memory broadcast buffer, or null
  void take_in(Group& group, std::unique_ptr<Board> board);
  /// No collective is to come on it at this rank. Asks nothing of the MPI library, which may be in the midst of
  /// something else, and does not wait for the other ranks, which need not be about to do the same.
  void let_go(Group& group);

  const Broadcasting& chosen() const { return chosen_; }
  Account& account() { return account_; }
  port::Progress& library() { return library_; }

 private:
  friend bool takes_broadcast(Group&, port::Exchange&);
  void plant_tree(Group& group, port::Exchange& ranks);
  void fell_tree(Group& group);

  Broadcasting chosen_;
  Account& account_;
  port::Progress& library_;
  std::unique_ptr<Post> post_;  // if there may be trees
  std::vector<Group*> with_tree_;
  std::vector<std::unique_ptr<Tree>> felled_;  // whose messages are still under way
};

/// At each valid broadcast of the group: whether broadcast() is to be called for it. The same at all ranks. Collective
/// at the broadcast at which a tree is made; blocks then.
/// @param ranks of the group
bool takes_broadcast(Group& group, port::Exchange& ranks);
/// Gives the data, or waits for them.
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

/// Around the library's own collective, after Outcome::library, and before that: notes how long it took, if that is
/// asked for.
class Looked {
 public:
  Looked(Group& group, Call& call) : group_(group), call_(call) {}
  ~Looked() {
    if (group_.looked_at != 0) note();
  }
  Looked(const Looked&) = delete;
  Looked& operator=(const Looked&) = delete;

 private:
  void note();

  Group& group_;
  Call& call_;
};

}  // namespace steelyard::collectives
