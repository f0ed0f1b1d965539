// SPDX-License-Identifier: BSD-3-Clause
// What broadcasts need to know of the node and of the options.
#include <algorithm>

#include "session/session.h"
#include "session/state.h"

namespace steelyard::session {

std::unique_ptr<collectives::Board> open_board(const CommunicatorOnNode* communicator) {
  const Session* session = g_session;
  if (session == nullptr || session->boards == nullptr || !communicator->sure) return nullptr;
  return session->boards->open(communicator->slot, communicator->member_of_rank);
}

int local_members(const int* members, int count) {
  const Session* session = g_session;
  if (session == nullptr) return 1;
  int found = 0;
  for (int p = 0; p < session->count; ++p) {
    found += static_cast<int>(std::count(members, members + count, session->processes[p].world_rank));
  }
  return found;
}

collectives::Broadcasting broadcasting() {
  using base::CollectivesTree;
  const Session* session = g_session;
  const base::Options& options = base::options();
  collectives::Broadcasting chosen;
  chosen.compares = session != nullptr && session->compares_broadcasts;
  if (session == nullptr || session->boards == nullptr || !session->plants_trees ||
      session->bootstrap->node_count() < 2)
    return chosen;
  chosen.on = true;
  chosen.node = session->bootstrap->node_index();
  chosen.settings.policy = options.collectives_tree == CollectivesTree::swap       ? collectives::Policy::swap
                           : options.collectives_tree == CollectivesTree::binomial ? collectives::Policy::binomial
                                                                                   : collectives::Policy::sort;
  chosen.settings.every = static_cast<int>(options.collectives_tree_every);
  chosen.settings.threshold = options.collectives_tree_threshold * std::int64_t{1000};
  chosen.may_leave_to_library = options.collectives_tree == CollectivesTree::automatic;
  return chosen;
}

bool takes_every_broadcast() { return g_session != nullptr && g_session->takes_every_broadcast; }

void broadcast_called() {
  if (g_session != nullptr) g_session->called_broadcasts = true;
}

collectives::Account& collectives_account() {
  static collectives::Account of_nothing;
  return g_session != nullptr ? g_session->collectives : of_nothing;
}

}  // namespace steelyard::session
