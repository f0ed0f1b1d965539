/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that come and go. */
#include <stdlib.h>
#include <string.h>

#include "player.h"

static void put(slot_t* slot, MPI_Comm comm) {
  *slot = (slot_t){.set = true, .comm = comm};
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &slot->rank);
  MPI_Comm_size(comm, &slot->size);
}

static void empty(slot_t* slot) {
  if (slot->set && slot->comm != MPI_COMM_NULL) MPI_Comm_free(&slot->comm);
  *slot = (slot_t){.comm = MPI_COMM_NULL};
}

/* A group of some ranks, the same at all. MPI_GROUP_EMPTY never. */
static MPI_Group some_ranks(scene_t* scene, bool* is_member) {
  int ranks[64], count = 0;
  const int size = scene->slot->size, at_least = (int)roll(&scene->dice, (unsigned)size);
  MPI_Group all, some;
  for (int i = 0; i < size; ++i) {
    const int rank = (i * (size % 2 == 1 ? 2 : 1) + at_least) % size; /* not always in order */
    if (i == 0 || chance(&scene->dice, 60)) ranks[count++] = rank;
  }
  *is_member = false;
  for (int i = 0; i < count; ++i) *is_member = *is_member || ranks[i] == scene->slot->rank;
  MPI_Comm_group(scene->slot->comm, &all);
  MPI_Group_incl(all, count, ranks, &some);
  MPI_Group_free(&all);
  return some;
}

static MPI_Comm cart(scene_t* scene) {
  int sizes[2] = {0, 0}, periods[2] = {0, 0};
  const int dimensions = 1 + (int)roll(&scene->dice, 2);
  const bool periodic = chance(&scene->dice, 50), reorder = chance(&scene->dice, 50);
  MPI_Comm made;
  MPI_Dims_create(scene->slot->size, dimensions, sizes);
  /* Of one or two ranks in a ring each is a neighbour twice: which block is which, libraries disagree. */
  for (int i = 0; i < dimensions; ++i) periods[i] = periodic && sizes[i] > 2;
  MPI_Cart_create(scene->slot->comm, dimensions, sizes, periods, reorder, &made);
  return made;
}

static void neighbours_in_grid(slot_t* slot) {
  int dimensions = 0;
  MPI_Cartdim_get(slot->comm, &dimensions);
  slot->has_neighbours = true;
  for (int i = 0; i < dimensions; ++i) {
    int low, high;
    MPI_Cart_shift(slot->comm, i, 1, &low, &high);
    slot->in[slot->in_degree++] = low;
    slot->in[slot->in_degree++] = high;
  }
  slot->out_degree = slot->in_degree;
  memcpy(slot->out, slot->in, sizeof slot->in);
}

/* Any edges, none twice. */
static void graph(scene_t* scene, slot_t* made) {
  const slot_t from = *scene->slot;
  const bool reorder = false; /* the ranks of the edges are these */
  slot_t slot = {.set = true, .has_neighbours = true};
  const unsigned density = 10 + roll(&scene->dice, 80);
  for (int source = 0; source < from.size; ++source) {
    for (int destination = 0; destination < from.size; ++destination) {
      if (!chance(&scene->dice, density)) continue;
      if (source == from.rank && slot.out_degree < NEIGHBOURS) slot.out[slot.out_degree++] = destination;
      if (destination == from.rank && slot.in_degree < NEIGHBOURS) slot.in[slot.in_degree++] = source;
    }
  }
  static const int weights[NEIGHBOURS] = {0};
  MPI_Dist_graph_create_adjacent(from.comm, slot.in_degree, slot.in, weights, slot.out_degree, slot.out, weights,
                                 MPI_INFO_NULL, reorder, &slot.comm);
  slot.rank = from.rank;
  slot.size = from.size;
  *made = slot;
}

/* Into a slot that is emptied first. */
void play_communicator(scene_t* scene) {
  player_t* player = scene->player;
  const unsigned into = 1 + roll(&scene->dice, SLOTS - 1);
  const unsigned kind = roll(&scene->dice, 10);
  dice_t own = dice_of(scene, scene->slot->rank);
  if (scene->slot == &player->slots[into]) scene->slot = &player->slots[0];
  doing(player, scene->operation, "making of a communicator");
  complete(player, dice_of(scene, -1), true);
  empty(&player->slots[into]);
  if (kind == 0) return;
  player->slots[into].set = true;
  if (scene->slot->comm == MPI_COMM_NULL) return;
  MPI_Comm comm = scene->slot->comm, made = MPI_COMM_NULL;
  MPI_Group group;
  MPI_Request request;
  bool is_member = false;
  const int rank = scene->slot->rank, size = scene->slot->size;
  switch (kind) {
    case 1: MPI_Comm_dup(comm, &made); break;
    case 2: MPI_Comm_split(comm, rank % 2, (int)roll(&own, 10), &made); break;
    case 3: MPI_Comm_split(comm, chance(&own, 80) ? 0 : MPI_UNDEFINED, -rank, &made); break;
    case 4:
      group = some_ranks(scene, &is_member);
      MPI_Comm_create(comm, group, &made);
      MPI_Group_free(&group);
      break;
    case 5:
      group = some_ranks(scene, &is_member);
      if (is_member) MPI_Comm_create_group(comm, group, (int)(scene->operation % 1000), &made);
      MPI_Group_free(&group);
      break;
    case 6: MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, size - rank, MPI_INFO_NULL, &made); break;
    case 7:
      MPI_Comm_idup(comm, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 8: made = cart(scene); break;
    default: graph(scene, &player->slots[into]);
  }
  if (kind == 9) return;
  put(&player->slots[into], made);
  if (kind == 8 && made != MPI_COMM_NULL) neighbours_in_grid(&player->slots[into]);
}

static void use(scene_t* scene, MPI_Comm comm, int uses, int salt) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < uses; ++i) {
    const int root = (i + salt) % size, wanted = salt * 100 + i;
    int told = rank == root ? wanted : -1, sum = 0;
    MPI_Bcast(&told, 1, MPI_INT, root, comm);
    expect(scene, told == wanted, "Bcast on a brief communicator", told, wanted);
    if (i % 3 == 2) {
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
      expect(scene, sum == size * (size - 1) / 2, "Allreduce on a brief communicator", sum, size);
    }
  }
}

/* Several that live for a few calls, and are freed in another order than they were made. */
void play_brief_communicators(scene_t* scene) {
  enum { MOST = 5 };
  MPI_Comm comms[MOST];
  int uses[MOST];
  const int count = 1 + (int)roll(&scene->dice, MOST);
  doing(scene->player, scene->operation, "brief communicators");
  for (int i = 0; i < count; ++i) {
    const MPI_Comm from = i > 0 && chance(&scene->dice, 30) ? comms[i - 1] : scene->slot->comm;
    uses[i] = (int)roll(&scene->dice, 6);
    if (chance(&scene->dice, 50))
      MPI_Comm_dup(from, &comms[i]);
    else
      MPI_Comm_split(from, scene->slot->rank % (1 + (int)roll(&scene->dice, 2)), scene->slot->rank, &comms[i]);
  }
  for (int i = 0; i < count; ++i) use(scene, comms[i], uses[i], i);
  const int first = (int)roll(&scene->dice, (unsigned)count);
  for (int i = 0; i < count; ++i) MPI_Comm_free(&comms[(first + i) % count]);
}

/* Between two groups. */
void play_groups(scene_t* scene) {
  const int rank = scene->slot->rank, size = scene->slot->size;
  if (size < 2) return;
  const int border = 1 + (int)roll(&scene->dice, (unsigned)size - 1), tag = (int)(scene->operation % 1000);
  const bool low = rank < border;
  const int mine = low ? border : size - border, others = size - mine;
  const int root = (int)roll(&scene->dice, (unsigned)border), value = (int)roll(&scene->dice, 1000000);
  const bool merges = chance(&scene->dice, 50);
  MPI_Comm half, between, merged;
  int own_rank;
  doing(scene->player, scene->operation, "intercommunicator");
  MPI_Comm_split(scene->slot->comm, low, rank, &half);
  MPI_Comm_rank(half, &own_rank);
  MPI_Intercomm_create(half, 0, scene->slot->comm, low ? border : 0, tag, &between);
  const int calls = 1 + (int)roll(&scene->dice, 4);
  for (int i = 0; i < calls; ++i) {
    const unsigned kind = roll(&scene->dice, 5);
    int all[64], told = -1, sum = -1;
    int sent = rank * 1000 + i;
    const int other_first = low ? border : 0;
    switch (kind) {
      case 0: /* from the root of the low group to the high one */
        told = low && own_rank == root ? value + i : -1;
        MPI_Bcast(&told, 1, MPI_INT, low ? (own_rank == root ? MPI_ROOT : MPI_PROC_NULL) : root, between);
        if (!low) expect(scene, told == value + i, "Bcast between groups", told, value + i);
        break;
      case 1:
        MPI_Allgather(&sent, 1, MPI_INT, all, 1, MPI_INT, between);
        for (int j = 0; j < others; ++j)
          expect(scene, all[j] == (other_first + j) * 1000 + i, "Allgather between groups", all[j], j);
        break;
      case 2:
        MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_MAX, between);
        expect(scene, sum == (low ? size - 1 : border - 1) * 1000 + i, "Allreduce between groups", sum, i);
        break;
      case 3: MPI_Barrier(between); break;
      default: /* from each of the high group to a rank of the low one */
        MPI_Gather(&sent, 1, MPI_INT, all, 1, MPI_INT, low ? (own_rank == root ? MPI_ROOT : MPI_PROC_NULL) : root,
                   between);
        if (low && own_rank == root) {
          for (int j = 0; j < others; ++j)
            expect(scene, all[j] == (border + j) * 1000 + i, "Gather between groups", all[j], j);
        }
    }
  }
  if (merges) {
    MPI_Intercomm_merge(between, !low, &merged);
    use(scene, merged, 3, 1);
    MPI_Comm_free(&merged);
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

void free_slots(player_t* player) {
  for (int i = 1; i < SLOTS; ++i) empty(&player->slots[i]);
}
