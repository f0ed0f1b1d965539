// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/communicator.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "intercept/mpi/port.h"
#include "session/collectives.h"
#include "session/waits.h"

namespace steelyard::intercept {

namespace {

int g_key = MPI_KEYVAL_INVALID;
bool g_several_threads = false;
Communicator* g_world = nullptr;  // that of most calls: no look at attributes
// Nor for the one that was asked for last, unless several threads may ask.
MPI_Comm g_last_handle{};
Communicator* g_last = nullptr;

/// What lets the MPI library advance its messages.
class Library final : public port::Progress {
 public:
  void progress() override { session::progress(); }
};

/// What delivers broadcasts and scatters, with its port to MPI.
struct Delivering {
  Library library;
  std::optional<MpiMessages> messages;  // if there may be trees
  std::optional<MpiExchange> world;
  std::optional<collectives::Engine> engine;
};
std::optional<Delivering> g_delivering;

int on_free(MPI_Comm, int, void* value, void*) {
  auto* communicator = static_cast<Communicator*>(value);
  if (communicator == g_last) g_last_handle = MPI_COMM_NULL;
  if (g_delivering) g_delivering->engine->remove_group(*communicator);
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
  communicator->engine = &*g_delivering->engine;
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
  Delivering& delivering = g_delivering.emplace();
  const collectives::Broadcasting chosen = session::broadcasting();
  collectives::Engine& engine = delivering.engine.emplace(chosen, session::collectives_account(), delivering.library);
  if (chosen.on) {
    const MpiMessages& messages = delivering.messages.emplace(MPI_COMM_WORLD);
    engine.use_trees(*delivering.messages, delivering.world.emplace(messages.comm()));
  }
  // Other threads may soon ask for it.
  g_world = remembered(MPI_COMM_WORLD);
}

void forget_communicators() {
  g_delivering.reset();
  if (remembering()) PMPI_Comm_delete_attr(MPI_COMM_WORLD, g_key);
  g_world = nullptr;
  g_last_handle = MPI_COMM_NULL;
  if (g_key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&g_key);
}

bool takes_every_broadcast() { return g_delivering && g_delivering->engine->chosen().every; }

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
    // A broadcast buffer does not reach ranks on other nodes.
    const bool reaches_all = communicator->engine->chosen().on || communicator->local_members == communicator->size;
    communicator->engine->add_group(*communicator, communicator->on_node != nullptr && reaches_all
                                                       ? session::open_board(communicator->on_node)
                                                       : nullptr);
  }
  return communicator;
}

void note_left_to_threads(collectives::Operation operation, MPI_Comm handle) {
  if (several_orders(handle) && handle != MPI_COMM_SELF) session::collectives_account().left_to_threads(operation);
}

void note_left(MPI_Comm handle, const Communicator* communicator) {
  if (communicator == nullptr) return note_left_to_threads(collectives::Operation::broadcast, handle);
  collectives::note_left_broadcast(*communicator);
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
