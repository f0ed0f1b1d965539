// SPDX-License-Identifier: BSD-3-Clause
#include "session/communicators.h"

#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "session/state.h"
#include "wait/back_off.h"

namespace steelyard::session {

CommunicatorOnNode* attach_communicator(const int* members, int count) {
  Session* session = g_session;
  if (session == nullptr || session->arrivals == nullptr) return nullptr;
  std::map<int, int> node_rank;
  for (int p = 0; p < session->count; ++p) node_rank[session->processes[p].world_rank] = p;
  std::vector<int> local, by_rank;
  for (int i = 0; i < count; ++i) {
    const auto found = node_rank.find(members[i]);
    by_rank.push_back(found == node_rank.end() ? -1 : found->second);
    if (found != node_rank.end()) local.push_back(found->second);
  }
  if (local.size() < 2) return nullptr;
  const std::span all(members, static_cast<std::size_t>(count));
  return session->arrivals->follow(base::fnv1a(std::as_bytes(all)), std::move(local), std::move(by_rank));
}

void detach_communicator(CommunicatorOnNode* communicator) {
  Session* session = g_session;
  if (session == nullptr) return;
  session->arrivals->forget(communicator, [&](int slot) {
    if (session->collectives != nullptr) session->collectives->boards->clear(slot);
  });
}

void announce(CommunicatorOnNode* communicator) {
  Session* session = g_session;
  if (session != nullptr && session->arrivals != nullptr) {
    session->arrivals->arrive(*communicator, base::now_ns());
    if (session->arrivals->wake(*communicator)) wait::yield();
  }
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

}  // namespace steelyard::session
