// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/communicator.h"

#include <algorithm>
#include <numeric>

namespace steelyard::intercept {

namespace {

// A tree is made at this broadcast of a communicator: making one costs a few collectives, and may not be worth them.
constexpr int kTreeFrom = 3, kTreeFromCompared = 64;

int g_key = MPI_KEYVAL_INVALID;
bool g_several_threads = false;
Communicator* g_world = nullptr;  // that of most calls: no look at attributes
// Nor for the one that was asked for last, unless several threads may ask.
MPI_Comm g_last_handle = MPI_COMM_NULL;
Communicator* g_last = nullptr;
std::unique_ptr<Post> g_post;  // where there may be trees
std::vector<Communicator*> g_with_tree;
std::vector<std::unique_ptr<Tree>> g_felled;  // whose messages are still under way

/// Asks nothing of the MPI library, which may be in the midst of something else, nor waits for the other members, which
/// need not be about to do the same.
void fell_tree(Communicator& communicator) {
  const auto in_world = [&](std::vector<int> ranks) {
    for (int& rank : ranks) rank = communicator.world_ranks[static_cast<std::size_t>(rank)];
    return ranks;
  };
  if (communicator.rank == 0 && communicator.tree->usable()) {
    session::note_tree(in_world(communicator.first_order), in_world(communicator.tree->order()));
  }
  communicator.tree->end();
  g_felled.push_back(std::move(communicator.tree));
}

int on_free(MPI_Comm, int, void* value, void*) {
  auto* communicator = static_cast<Communicator*>(value);
  if (communicator == g_last) g_last_handle = MPI_COMM_NULL;
  if (std::erase(g_with_tree, communicator) != 0) fell_tree(*communicator);
  if (communicator->on_node != nullptr) session::detach_communicator(communicator->on_node);
  delete communicator;
  return MPI_SUCCESS;
}

std::vector<int> world_ranks_of(MPI_Comm communicator, int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> own(ranks.size());
  std::iota(own.begin(), own.end(), 0);
  MPI_Group group, world;
  PMPI_Comm_group(communicator, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, size, own.data(), world, ranks.data());
  PMPI_Group_free(&world);
  PMPI_Group_free(&group);
  return ranks;
}

Communicator* remember(MPI_Comm handle) {
  auto* communicator = new Communicator;
  PMPI_Comm_rank(handle, &communicator->rank);
  PMPI_Comm_size(handle, &communicator->size);
  communicator->world_ranks = world_ranks_of(handle, communicator->size);
  int world_size = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
  communicator->spans_world =
      communicator->size == world_size && !std::ranges::count(communicator->world_ranks, MPI_UNDEFINED);
  PMPI_Comm_set_attr(handle, g_key, communicator);
  return communicator;
}

/// Threads may call collectives on two communicators at once, in an order of their own.
bool several_orders(MPI_Comm handle) { return g_several_threads && handle != MPI_COMM_WORLD; }

}  // namespace

void remember_communicators(bool several_threads) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &g_key, nullptr);
  g_several_threads = several_threads;
  if (session::broadcasting().on) g_post = std::make_unique<Post>(MPI_COMM_WORLD);
  // Other threads may soon ask for it.
  g_world = remembered(MPI_COMM_WORLD);
}

void forget_communicators() {
  // Trees have messages of their own under way, and the program may never free their communicators.
  for (Communicator* const communicator : g_with_tree) fell_tree(*communicator);
  g_with_tree.clear();
  g_post.reset();
  g_felled.clear();
  if (remembering()) PMPI_Comm_delete_attr(MPI_COMM_WORLD, g_key);
  g_world = nullptr;
  g_last_handle = MPI_COMM_NULL;
  if (g_key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&g_key);
}

void plant_tree(Communicator& communicator, MPI_Comm handle) {
  const session::Broadcasting chosen = session::broadcasting();
  const bool alone = communicator.on_node == nullptr && communicator.local_members == 1;
  std::erase_if(g_felled, [](const std::unique_ptr<Tree>& tree) { return tree->is_quiet(); });
  communicator.tree =
      std::make_unique<Tree>(handle, *g_post, communicator.world_ranks, chosen.node,
                             alone || communicator.board != nullptr, chosen.settings, chosen.may_leave_to_library);
  communicator.first_order = communicator.tree->order();
  if (chosen.compares && chosen.may_leave_to_library) communicator.tree->compare(communicator.board.get());
  g_with_tree.push_back(&communicator);
}

bool remembering() { return g_key != MPI_KEYVAL_INVALID; }

Communicator* remembered(MPI_Comm handle) {
  if (handle == MPI_COMM_NULL || !remembering()) return nullptr;
  if (handle == MPI_COMM_WORLD && g_world != nullptr) return g_world;
  if (handle == g_last_handle) return g_last;
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(handle, g_key, static_cast<void*>(&value), &found) != MPI_SUCCESS) return nullptr;
  if (found != 0) {
    if (!g_several_threads) {
      g_last_handle = handle;
      g_last = static_cast<Communicator*>(value);
    }
    return static_cast<Communicator*>(value);
  }
  int between_groups = 0;
  PMPI_Comm_test_inter(handle, &between_groups);
  return between_groups != 0 ? nullptr : remember(handle);
}

Communicator* at_collective(MPI_Comm handle) {
  if (several_orders(handle)) return nullptr;
  Communicator* communicator = remembered(handle);
  if (communicator == nullptr || communicator->asked) return communicator;
  communicator->asked = true;
  const std::vector<int>& ranks = communicator->world_ranks;
  if (communicator->size > 1 && !std::ranges::count(ranks, MPI_UNDEFINED)) {
    communicator->on_node = session::attach_communicator(ranks.data(), communicator->size);
    communicator->local_members = session::local_members(ranks.data(), communicator->size);
    const session::Broadcasting broadcasting = session::broadcasting();
    const bool elsewhere = communicator->local_members < communicator->size;
    communicator->between_nodes = broadcasting.on && elsewhere;
    // A board knows nothing of those on other nodes.
    const bool reaches_all = communicator->between_nodes || !elsewhere;
    if (communicator->on_node != nullptr && reaches_all)
      communicator->board = session::open_board(communicator->on_node);
    communicator->tree_from = broadcasting.compares ? kTreeFromCompared : kTreeFrom;
    communicator->compares = broadcasting.compares && communicator->board != nullptr && !communicator->between_nodes;
  }
  return communicator;
}

void note_left_to_threads(collectives::Operation operation, MPI_Comm handle) {
  if (several_orders(handle) && handle != MPI_COMM_SELF) session::note_left_to_threads(operation);
}

void note_left(MPI_Comm handle, const Communicator* communicator) {
  using collectives::Operation;
  using observe::Broadcasts;
  if (communicator == nullptr) return note_left_to_threads(Operation::broadcast, handle);
  if (communicator->between_nodes) {
    if (communicator->tree == nullptr) return session::note_left(Operation::broadcast, &Broadcasts::left_first, false);
    if (!communicator->tree->usable()) session::note_left(Operation::broadcast, &Broadcasts::left_boards, false);
  } else if (communicator->board == nullptr && communicator->size > 1 &&
             communicator->local_members == communicator->size) {
    session::note_left(Operation::broadcast, &Broadcasts::left_boards, false);
  }
}

int world_rank(MPI_Comm handle, int rank) {
  if (rank < 0) return -1;
  if (handle == MPI_COMM_WORLD) return rank;
  const Communicator* communicator = remembered(handle);
  if (communicator == nullptr || rank >= communicator->size) return -1;
  const int world = communicator->world_ranks[static_cast<std::size_t>(rank)];
  return world == MPI_UNDEFINED ? -1 : world;
}

void announce(const Communicator& communicator) { session::announce(communicator.on_node); }

}  // namespace steelyard::intercept
