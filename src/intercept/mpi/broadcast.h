// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <utility>

#include "intercept/mpi/delivery.h"

// MPI_Bcast, which Steelyard may deliver (collectives/engine.h).
namespace steelyard::intercept {

/// The arguments of the call, as C has them.
struct Broadcast {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int root;
  MPI_Comm comm;
};

/// This thread's next MPI_Bcast was called by Steelyard's name, from Fortran.
inline thread_local bool t_next_is_called = false;

/// What has a meaning without asking the others. The rest is the library's to refuse, at this rank alone: it is no
/// collective.
bool is_valid(const Broadcast& broadcast, const Communicator& communicator);

/// At each valid broadcast on the communicator: whether Steelyard delivers it. The same at all ranks.
bool takes_over(const Broadcast& broadcast, Communicator& communicator);

/// Delivers it, as collectives::broadcast().
collectives::Outcome run(const Broadcast& broadcast, Communicator& communicator, collectives::Call& call);

/// The whole wrapper. `called`: by its own name, not as MPI_Bcast.
template <typename Native, typename Answer>
auto broadcast(Site site, const Broadcast& b, bool called, Native native, Answer answer) {
  if (!remembering()) return native();
  Communicator* communicator = at_collective(b.comm);
  const bool asked = called || takes_every_broadcast() || std::exchange(t_next_is_called, false);
  if (communicator != nullptr && !is_valid(b, *communicator)) return timed(site, native);
  if (communicator == nullptr || !asked || !takes_over(b, *communicator)) {
    if (asked) note_left(b.comm, communicator);
    return collective(site, communicator, root_to_all(b.root, b.count, b.type), native, answer);
  }
  return deliver(site, b, *communicator, native, answer);
}

}  // namespace steelyard::intercept
