// SPDX-License-Identifier: BSD-3-Clause
// What broadcasts need to know of the node and of the options.
#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "session/session.h"
#include "session/state.h"

namespace steelyard::session {

std::unique_ptr<collectives::Board> open_board(const CommunicatorOnNode* communicator) {
  const Session* state = g_session;
  const auto& group = *reinterpret_cast<const node::Arrivals::Group*>(communicator);
  if (state == nullptr || state->boards == nullptr || !group.sure) return nullptr;
  return state->boards->open(group.slot, group.member_of_rank);
}

int local_members(const int* members, int count) {
  const Session* state = g_session;
  if (state == nullptr) return 1;
  int found = 0;
  for (int p = 0; p < state->count; ++p) {
    found += static_cast<int>(std::count(members, members + count, state->processes[p].world_rank));
  }
  return found;
}

Broadcasting broadcasting() {
  using base::CollectivesTree;
  const Session* state = g_session;
  const base::Options& options = base::options();
  Broadcasting chosen;
  chosen.compares = state != nullptr && state->compares_broadcasts;
  if (state == nullptr || state->boards == nullptr || !state->plants_trees || state->bootstrap->node_count() < 2)
    return chosen;
  chosen.on = true;
  chosen.node = state->bootstrap->node_index();
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

namespace {
Delivered& delivered(Session& state, collectives::Operation operation) {
  return state.delivered[static_cast<std::size_t>(operation)];
}
}  // namespace

void note_delivery(collectives::Operation operation, bool by_library, bool by_tree, std::int64_t late) {
  constexpr std::int64_t kNoise = 50'000;
  if (g_session == nullptr) return;
  observe::Broadcasts& noted = delivered(*g_session, operation).counts;
  ++noted.calls;
  ++(by_library ? noted.library : by_tree ? noted.tree : noted.shared);
  if (late <= kNoise) return;
  ++noted.late;
  noted.behind += base::seconds(late);
}

void note_left(collectives::Operation operation, long observe::Broadcasts::* why, bool noted) {
  if (g_session == nullptr || g_session->boards == nullptr) return;
  if (!noted) note_delivery(operation, true, false, 0);
  ++(delivered(*g_session, operation).counts.*why);
}

void note_left_to_threads(collectives::Operation operation) {
  if (g_session != nullptr && g_session->boards != nullptr)
    delivered(*g_session, operation).left_to_threads.fetch_add(1, std::memory_order_relaxed);
}

void note_wait(collectives::Operation operation, bool by_library, std::int64_t ns) {
  if (g_session == nullptr) return;
  const double wait = base::seconds(ns);
  Delivered& noted = delivered(*g_session, operation);
  Delivered::Waits& waits = by_library ? noted.library : noted.shared;
  ++waits.count;
  waits.sum += wait;
  waits.squares += wait * wait;
}

void note_tree(const std::vector<int>& first, const std::vector<int>& last) {
  constexpr std::size_t kMost = 16;
  if (g_session != nullptr && g_session->trees.size() < kMost) g_session->trees.push_back({first, last});
}

observe::Broadcasts delivered_of(const Session& state, collectives::Operation operation) {
  const Delivered& of = state.delivered[static_cast<std::size_t>(operation)];
  observe::Broadcasts noted = of.counts;
  noted.left_threads = of.left_to_threads.load();
  noted.calls += noted.left_threads;
  noted.library += noted.left_threads;
  const auto sum_up = [](const Delivered::Waits& waits, long& looks, double& wait, double& noise) {
    looks = waits.count;
    if (waits.count == 0) return;
    const auto count = static_cast<double>(waits.count);
    wait = waits.sum / count;
    // Twice the standard error. What a single one is worth is not known: as much as itself.
    const double variance = std::max(0.0, waits.squares / count - wait * wait);
    noise = waits.count > 1 ? 2 * std::sqrt(variance / (count - 1)) : wait;
  };
  sum_up(of.shared, noted.shared_looks, noted.shared_wait, noted.shared_noise);
  sum_up(of.library, noted.library_looks, noted.library_wait, noted.library_noise);
  return noted;
}

}  // namespace steelyard::session
