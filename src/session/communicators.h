// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "node/arrivals.h"

// Which processes of the node take part in a collective, and whether they have arrived at it.
namespace steelyard::session {

struct Session;

/// A communicator as the node sees it: the key that all its local members agree on, and their node ranks.
using CommunicatorOnNode = node::Arrivals::Group;

/// Registers a communicator before its first collective. All its members call it.
/// @param members world ranks in order
/// @return nullptr where it cannot be followed (table full, one local member, several threads): then
///         BlockingCall::arrive() must not be called with it
CommunicatorOnNode* attach_communicator(const int* members, int count);
void detach_communicator(CommunicatorOnNode* communicator);
/// Announces this rank at its next collective without waiting, for a call that is not measured: the others must not
/// wait for it. From any thread.
void announce(CommunicatorOnNode* communicator);

/// How many of these, by their world ranks, are on this node.
int local_members(const int* members, int count);
/// Node rank of the process with this rank in MPI_COMM_WORLD; -1 if it is on another node.
int node_rank(const Session& session, int world_rank);

}  // namespace steelyard::session
