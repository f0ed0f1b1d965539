// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "intercept/mpi/delivery.h"

// MPI_Scatter, which Steelyard may deliver inside a node (collectives/engine.h). The MPI libraries' own passes the
// blocks on along a tree, or sends one after the other, so a late rank delays the ranks behind it. The library handles
// MPI_Scatterv: a rank that gets nothing may go on there without having heard the root.
namespace steelyard::intercept {

/// The arguments of the call, as C has them.
struct Scatter {
  const void* from;  ///< and so on: at the root alone
  MPI_Count from_count;
  MPI_Datatype from_type;
  void* to;
  MPI_Count to_count;
  MPI_Datatype to_type;
  int root;
  MPI_Comm comm;
};

/// As for a broadcast (broadcast.h).
bool is_valid(const Scatter& scatter, const Communicator& communicator);
bool takes_over(const Scatter& scatter, Communicator& communicator);
collectives::Outcome run(const Scatter& scatter, Communicator& communicator, collectives::Call& call);

/// The whole wrapper.
template <typename Native, typename Answer>
auto scatter(Site site, const Scatter& s, Native native, Answer answer) {
  if (!remembering()) return native();
  Communicator* communicator = at_collective(s.comm);
  if (communicator != nullptr && !is_valid(s, *communicator)) return timed(site, native);
  const bool asked = takes_every_broadcast();
  if (asked && communicator == nullptr) note_left_to_threads(collectives::Operation::scatter, s.comm);
  if (communicator == nullptr || !asked || !takes_over(s, *communicator))
    return collective(site, communicator, root_to_all(s.root, s.to_count, s.to_type), native, answer);
  return deliver(site, s, *communicator, native, answer);
}

}  // namespace steelyard::intercept
