// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include "collectives/account.h"
#include "collectives/board.h"
#include "collectives/broadcasting.h"
#include "session/communicators.h"

// Broadcasts and scatters that Steelyard delivers.
namespace steelyard::session {

/// How broadcasts and scatters are delivered in this run.
collectives::Broadcasting broadcasting();
/// What became of them. Valid until finish().
collectives::Account& collectives_account();
/// The broadcast buffer of the communicator, if it has one: all members get it, or none does. Not after
/// detach_communicator().
std::unique_ptr<collectives::Board> open_board(const CommunicatorOnNode* communicator);

/// What a session keeps of them.
struct Delivery {
  std::unique_ptr<collectives::Boards> boards;
  collectives::Account account;
  collectives::Broadcasting chosen;
};

}  // namespace steelyard::session
