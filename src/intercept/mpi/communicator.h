// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "collectives/engine.h"
#include "intercept/mpi/library.h"
#include "session/communicators.h"

namespace steelyard::intercept {

/// What is remembered of an intra-communicator. It hangs on the communicator as an attribute, and goes with it.
/// `world_ranks` has MPI_UNDEFINED for processes that were spawned.
struct Communicator : collectives::Group {
  bool spans_world = false;
  bool asked = false;                              ///< on_node says what the runtime answered
  session::CommunicatorOnNode* on_node = nullptr;  ///< where its collectives are followed
};

/// Between these two, communicators are remembered. `several_threads`: MPI_THREAD_MULTIPLE was provided.
void remember_communicators(bool several_threads);
void forget_communicators();
/// True between the two.
bool remembering();

/// True if each MPI_Bcast and MPI_Scatter is to be delivered by Steelyard, not only calls of steelyard_bcast().
bool takes_every_broadcast();

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

/// Notes that this process is at its next collective on a followed communicator, which is not measured: the others must
/// not wait for it.
void announce(const Communicator& communicator);

}  // namespace steelyard::intercept
