// SPDX-License-Identifier: BSD-3-Clause
#include "session/communicators.h"

#include <algorithm>
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
  const std::span all(members, static_cast<std::size_t>(count));
  std::vector<int> local, by_rank;
  for (const int member : all) {
    const int process = node_rank(*session, member);
    by_rank.push_back(process);
    if (process >= 0) local.push_back(process);
  }
  if (local.size() < 2) return nullptr;
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
  return static_cast<int>(
      std::count_if(members, members + count, [&](int member) { return node_rank(*session, member) >= 0; }));
}

int node_rank(const Session& session, int world_rank) {
  const std::span processes(session.processes, static_cast<std::size_t>(session.count));  // in the order of ranks
  const auto found = std::ranges::lower_bound(processes, world_rank, {}, &node::Process::world_rank);
  return found != processes.end() && found->world_rank == world_rank ? static_cast<int>(found - processes.begin()) : -1;
}

}  // namespace steelyard::session
