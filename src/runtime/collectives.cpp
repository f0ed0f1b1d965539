// What broadcasts need to know of the node and of the options.
#include <algorithm>

#include "base/clock.h"
#include "runtime/runtime.h"
#include "runtime/state.h"

namespace steelyard::runtime {

std::unique_ptr<collectives::Board> open_board(const CommunicatorOnNode* communicator) {
  const State* state = g_state;
  const auto& group = *reinterpret_cast<const node::Arrivals::Group*>(communicator);
  if (state == nullptr || state->boards == nullptr || !group.sure) return nullptr;
  return state->boards->open(group.slot, group.member_of_rank);
}

int local_members(const int* members, int count) {
  const State* state = g_state;
  if (state == nullptr) return 1;
  int found = 0;
  for (int p = 0; p < state->count; ++p) {
    found += static_cast<int>(std::count(members, members + count, state->processes[p].world_rank));
  }
  return found;
}

Broadcasting broadcasting() {
  using base::BroadcastTree;
  const State* state = g_state;
  const base::Options& options = base::options();
  Broadcasting chosen;
  if (state == nullptr || state->boards == nullptr || options.broadcast_tree == BroadcastTree::library) return chosen;
  chosen.on = true;
  chosen.node = state->bootstrap->node_index();
  chosen.settings.policy = options.broadcast_tree == BroadcastTree::swap       ? collectives::Policy::swap
                           : options.broadcast_tree == BroadcastTree::binomial ? collectives::Policy::binomial
                                                                               : collectives::Policy::sort;
  chosen.settings.every = static_cast<int>(options.broadcast_every);
  chosen.settings.threshold = options.broadcast_threshold * std::int64_t{1000};
  chosen.may_leave_to_library = options.broadcast_tree == BroadcastTree::automatic;
  return chosen;
}

bool takes_every_broadcast() { return g_state != nullptr && g_state->takes_every_broadcast; }

void note_broadcast(bool by_library, bool by_tree, std::int64_t late) {
  constexpr std::int64_t kNoise = 50'000;
  if (g_state == nullptr) return;
  observe::Broadcasts& noted = g_state->broadcasts;
  ++noted.calls;
  ++(by_library ? noted.library : by_tree ? noted.tree : noted.shared);
  if (late <= kNoise) return;
  ++noted.late;
  noted.behind += base::seconds(late);
}

}  // namespace steelyard::runtime
