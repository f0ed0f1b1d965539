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
  int broadcasts = 0;            ///< so far, until it has a tree
  int tree_from = 0;             ///< the broadcast at which its tree is made
  bool compares = false;         ///< on one node: its board is used only if that is seen to be better than the library
  std::uint32_t left = 0;        ///< so many collectives from now on are the library's: a root has told
  int untold = -1;               ///< root of the last one, if what that root has told is still to be heard
  std::int64_t looked_at = 0;    ///< ns: the library's present one is timed from then on; 0: it is not timed
  int looked_which = 0;          ///< its class (size_classes.h)
  int looked_root = -1;          ///< between nodes, at a leader: the root that is told of the wait
  std::unique_ptr<Board> board;  ///< shared by its ranks on this node: all have one, or none has
  std::unique_ptr<Tree> tree;    ///< all its ranks have one, or none has
  std::vector<int> first_order;  ///< of the tree
};

}  // namespace steelyard::collectives
