// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <memory>
#include <vector>

#include "collectives/board.h"
#include "intercept/mpi/tree.h"
#include "session/session.h"

namespace steelyard::intercept {

/// What is remembered of an intra-communicator. It hangs on the communicator as an attribute, and goes with it.
struct Communicator {
  int rank = 0;
  int size = 1;
  bool spans_world = false;
  std::vector<int> world_ranks;                    ///< MPI_UNDEFINED for processes that were spawned
  bool asked = false;                              ///< on_node says what the runtime answered
  session::CommunicatorOnNode* on_node = nullptr;  ///< where its collectives are followed
  bool between_nodes = false;  ///< its broadcasts are to be taken over, and it has members elsewhere
  int local_members = 1;
  int broadcasts = 0;          ///< of those, until there is a tree
  int tree_from = 0;           ///< the one at which it is made
  bool compares = false;       ///< on one node: its board is used where that is seen to be better than the MPI library
  std::uint32_t left = 0;      ///< the next so many that a board may have are the library's: told by a root
  int untold = -1;             ///< root of the last one, where what it has told is still to be heard
  std::int64_t looked_at = 0;  ///< ns: from when the library's present one is timed; 0: it is not
  int looked_which = 0;        ///< its class (collectives/size_classes.h)
  int looked_root = -1;        ///< between nodes, where this rank leads its own: who is told
  std::unique_ptr<collectives::Board> board;  ///< shared by its members on this node: all have one, or none has
  std::unique_ptr<Tree> tree;                 ///< all its members have one, or none has
  std::vector<int> first_order;               ///< of the tree
};

/// Between these two, communicators are remembered. `several_threads`: MPI_THREAD_MULTIPLE was provided.
void remember_communicators(bool several_threads);
void forget_communicators();
/// True between the two.
bool remembering();

/// Gives it a tree, at all its members: collective over it.
void plant_tree(Communicator& communicator, MPI_Comm handle);

/// From the thread that called MPI_Init. nullptr for inter-communicators and MPI_COMM_NULL.
Communicator* remembered(MPI_Comm communicator);

/// At each collective on it, in whatever thread. nullptr where its collectives mean nothing to the runtime.
Communicator* at_collective(MPI_Comm communicator);

/// The same where there is none, as several threads may call collectives.
void note_left_to_threads(collectives::Operation operation, MPI_Comm handle);
/// A broadcast on it that was to be taken over is not: for the record, why. `communicator`: as at_collective() gave it.
void note_left(MPI_Comm handle, const Communicator* communicator);

/// -1 where it has none.
int world_rank(MPI_Comm communicator, int rank);

/// Notes that this process is at its next collective on a followed communicator, which is not weighed: the others must
/// not wait for it.
void announce(const Communicator& communicator);

}  // namespace steelyard::intercept
