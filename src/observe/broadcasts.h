// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

namespace steelyard::observe {

/// How a rank's broadcasts, or its scatters, were delivered. A wait is the time in the call after both the rank and the
/// root have arrived.
struct Broadcasts {
  long calls = 0;
  long shared = 0;    ///< given or taken through shared memory alone
  long tree = 0;      ///< that went along the tree between nodes as well
  long library = 0;   ///< left or given back to the MPI library
  long late = 0;      ///< at which the rank arrived more than 50 us after the data
  double behind = 0;  ///< s from the data to its arrival, summed over these
  // If both ways were compared; otherwise the gain is not known.
  long shared_looks = 0;                   ///< broadcasts through shared memory whose wait was measured
  double shared_wait = 0;                  ///< s, mean of these
  double shared_low = 0, shared_high = 0;  ///< its confidence interval
  long library_looks = 0;                  ///< the same of the MPI library's own
  double library_wait = 0;
  double library_low = 0, library_high = 0;
  // Why some of `library` were left to it.
  long left_threads = 0;  ///< MPI_THREAD_MULTIPLE, and another communicator than MPI_COMM_WORLD
  long left_boards = 0;   ///< the node had no broadcast buffer left for their communicator
  long left_first = 0;    ///< their communicator had no tree between nodes yet
  long left_length = 0;   ///< longer than a broadcast buffer or a tree takes
  long left_choice = 0;   ///< no rank was measured to wait less without the library
  long left_memory = 0;   ///< the node had no shared memory left for the data
  long left_nodes = 0;    ///< scatters: their communicator spans nodes
};

struct LeftField {
  const char* name;
  long Broadcasts::* count;
};
/// The reasons by their names in the run record.
inline constexpr LeftField kLeftFields[] = {
    {"left_threads", &Broadcasts::left_threads}, {"left_boards", &Broadcasts::left_boards},
    {"left_first", &Broadcasts::left_first},     {"left_length", &Broadcasts::left_length},
    {"left_choice", &Broadcasts::left_choice},   {"left_memory", &Broadcasts::left_memory},
    {"left_nodes", &Broadcasts::left_nodes},
};

/// The order of a tree's ranks between nodes, by position, the root first: at its beginning and at its end.
struct Tree {
  std::vector<int> first;
  std::vector<int> last;
  // With --collectives-tree=soga.
  long broadcasts = 0;
  long plans = 0;      ///< by the optimiser
  long changes = 0;    ///< plans that changed the order
  int optimiser = -1;  ///< rank of MPI_COMM_WORLD; -1 with other rules
};

}  // namespace steelyard::observe
