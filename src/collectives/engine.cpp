// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/engine.h"

#include <algorithm>
#include <utility>

#include "decide/estimate.h"

namespace steelyard::collectives {
namespace {

// A tree is made at this broadcast of a communicator: making one costs a collective, and may not be worth that.
constexpr int kTreeFrom = decide::kFewest + 1, kTreeFromCompared = 64;

}  // namespace

Engine::~Engine() {
  // Trees have messages of their own under way, and the program may never free their communicators.
  for (Group* const group : groups_with_tree_) end_tree(*group);
  post_.reset();
  ended_trees_.clear();
}

void Engine::use_trees(port::Messages& messages, port::Exchange& world) {
  post_ = std::make_unique<Post>(messages, world);
}

void Engine::add_group(Group& group, std::unique_ptr<Board> board) {
  group.engine = this;
  group.board = std::move(board);
  group.between_nodes = chosen_.on && group.local_members < group.size;
  group.tree_from = chosen_.compares ? kTreeFromCompared : kTreeFrom;
  group.compares = chosen_.compares && group.board != nullptr && !group.between_nodes;
}

void Engine::remove_group(Group& group) {
  if (std::erase(groups_with_tree_, &group) != 0) end_tree(group);
}

void Engine::end_tree(Group& group) {
  const auto in_world = [&](std::vector<int> ranks) {
    for (int& rank : ranks) rank = group.world_ranks[static_cast<std::size_t>(rank)];
    return ranks;
  };
  if (group.rank == 0 && group.tree->usable()) {
    const Tree::Planned planned = group.tree->planned();
    account_.tree({in_world(group.first_order), in_world(group.tree->order()), planned.broadcasts, planned.plans,
                   planned.changes, planned.optimiser < 0 ? -1 : in_world({planned.optimiser}).front()});
  }
  group.tree->end();
  ended_trees_.push_back(std::move(group.tree));
}

void Engine::make_tree(Group& group, port::Exchange& ranks) {
  // Its ranks on this node share a broadcast buffer, or there is only this rank.
  const bool ready = group.board != nullptr || group.local_members == 1;
  std::erase_if(ended_trees_, [](const std::unique_ptr<Tree>& tree) { return tree->is_finished(); });
  group.tree = std::make_unique<Tree>(ranks, *post_, group.world_ranks, chosen_.node, ready, chosen_.settings,
                                      chosen_.may_leave_to_library);
  group.first_order = group.tree->order();
  if (chosen_.compares && chosen_.may_leave_to_library) group.tree->compare(group.board.get());
  groups_with_tree_.push_back(&group);
}

}  // namespace steelyard::collectives
