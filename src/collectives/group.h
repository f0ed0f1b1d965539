// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/board.h"
#include "collectives/tree.h"

namespace steelyard::collectives {

class Engine;

/// What is kept of a communicator, at one of its ranks, to deliver its broadcasts and scatters. From one thread at a
/// time.
struct Group {
  Engine* engine = nullptr;  ///< outlives it, unless nothing is delivered any more
  int rank = 0;
  int size = 1;
  std::vector<int> world_ranks;  ///< by rank
  int local_members = 1;         ///< ranks on this node
  bool between_nodes = false;    ///< its broadcasts are delivered by Steelyard, and it has ranks on other nodes
  int broadcasts = 0;            ///< so far; counted until it has a tree
  int tree_from = 0;             ///< the broadcast at which its tree is made
  bool compares = false;         ///< on one node: shared memory is used only if measurements show that it is faster
  std::uint32_t left = 0;        ///< collectives from now on that the library handles, as a root has announced
  int unread_root = -1;          ///< root of the last collective, if its announcement is still to be read
  std::int64_t timed_since = 0;  ///< ns: when the library's present collective was called; 0: it is not timed
  int timed_class = 0;           ///< its class (size_classes.h)
  int timed_root = -1;           ///< between nodes, at a leader: the root that is told of the wait
  std::unique_ptr<Board> board;  ///< shared by its ranks on this node: all have one, or none has
  std::unique_ptr<Tree> tree;    ///< all its ranks have one, or none has
  std::vector<int> first_order;  ///< of the tree
};

}  // namespace steelyard::collectives
