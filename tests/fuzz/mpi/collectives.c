/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move data, in all their forms. */
#include <stdlib.h>
#include <string.h>

#include "forms.h"
#include "layout.h"
#include "player.h"

/* One rank's idea of `groups` of a family's signature: a layout, and elements of one, two or three of it. */
typedef struct side {
  layout_t layout;
  MPI_Datatype type;
  int count;
  bool made;
} side_t;

static side_t draw_side(dice_t* dice, int family, size_t groups, bool one_size) {
  side_t side = {.layout = draw_layout(dice, family)};
  const unsigned each = one_size ? 1 : 1 + roll(dice, 3);
  side.type = side.layout.type;
  side.count = (int)groups;
  if (each > 1 && groups > 0 && groups % each == 0 && chance(dice, 40)) {
    MPI_Type_contiguous((int)each, side.layout.type, &side.type);
    MPI_Type_commit(&side.type);
    side.count = (int)(groups / each);
    side.made = true;
  }
  return side;
}

static void keep_side(call_t* call, const side_t* side) {
  if (side->made) keep_type(call, side->type);
  keep_layout(call, &side->layout);
}

static uint64_t key_of(const scene_t* scene, int source, int destination) {
  return mixed(scene->player->seed * 31 + (uint64_t)scene->operation) + (uint64_t)(source * 4096 + destination);
}

how_t draw_how(scene_t* scene, bool has_persistent, bool has_large) {
  const unsigned way = roll(&scene->dice, 100);
  if (way < 65) return BLOCKING;
  if (way < 85) return NONBLOCKING;
  if (way < 92) return has_persistent ? PERSISTENT : BLOCKING;
#if MPI_VERSION >= 4
  return has_large ? LARGE : BLOCKING;
#else
  (void)has_large;
  return BLOCKING;
#endif
}

static void restart(scene_t* scene, call_t* call) {
  unsigned char* before[IMAGES];
  const unsigned rounds = roll(&scene->dice, STARTS);
  for (int i = 0; i < call->image_count; ++i) {
    before[i] = malloc(call->images[i].bytes + 1);
    memcpy(before[i], call->images[i].now, call->images[i].bytes);
  }
  for (unsigned round = 0; round < rounds; ++round) {
    MPI_Start(&call->request);
    MPI_Wait(&call->request, MPI_STATUS_IGNORE);
    check_call(scene->player, call, NULL);
    for (int i = 0; i < call->image_count; ++i) memcpy(call->images[i].now, before[i], call->images[i].bytes);
  }
  for (int i = 0; i < call->image_count; ++i) free(before[i]);
  MPI_Start(&call->request);
}

void called(scene_t* scene, call_t* call, how_t how, int error) {
  expect(scene, error == MPI_SUCCESS, call->name, error, how);
  call->persistent = how == PERSISTENT;
  call->is_collective = true;
  if (how == PERSISTENT) restart(scene, call);
  if (how == NONBLOCKING || how == PERSISTENT) {
    add_pending(scene->player, call);
  } else {
    check_call(scene->player, call, NULL);
    end_call(call);
  }
}

static void barrier(scene_t* scene) {
  const MPI_Comm comm = scene->slot->comm;
  const how_t how = draw_how(scene, true, false);
  call_t* call = new_call(scene, "Barrier");
  const int error = how == BLOCKING      ? MPI_Barrier(comm)
                    : how == NONBLOCKING ? MPI_Ibarrier(comm, &call->request)
                                         : INIT_OF(Barrier)(comm, MPI_INFO_NULL, &call->request);
  called(scene, call, how, error);
}

static void bcast(scene_t* scene) {
  const MPI_Comm comm = scene->slot->comm;
  const int rank = scene->slot->rank, root = (int)roll(&scene->dice, (unsigned)scene->slot->size);
  const int family = (int)roll(&scene->dice, FAMILIES);
  const size_t groups = draw_count(&scene->dice, family);
  const how_t how = draw_how(scene, PERSISTENT_OF_ANY_TYPE, true);
  dice_t own = dice_of(scene, rank);
  side_t side = draw_side(&own, family, groups, false);
  call_t* call = new_call(scene, "Bcast");
  image_t* image = new_image(call, span_of(&side.layout, groups));
  lay_stream(&side.layout, image->wanted, key_of(scene, root, 0), groups);
  if (rank == root) memcpy(image->now, image->wanted, image->bytes);
  int error;
  if (family != EMPTY && chance(&own, 10)) { /* by addresses */
    MPI_Datatype at;
    MPI_Aint place;
    MPI_Get_address(image->now, &place);
    MPI_Type_create_hindexed(1, (int[]){1}, &place, side.type, &at);
    MPI_Aint low, extent;
    MPI_Type_get_extent(side.type, &low, &extent);
    MPI_Datatype each;
    MPI_Type_create_resized(at, 0, extent, &each);
    MPI_Type_commit(&each);
    error = ISSUE(Bcast, bcast, MPI_BOTTOM, side.count, each, root);
    keep_type(call, each);
    keep_type(call, at);
  } else {
    error = ISSUE(Bcast, bcast, image->now, side.count, side.type, root);
  }
  keep_side(call, &side);
  called(scene, call, how, error);
}

/* Blocks of one buffer, by rank: counts, places in elements, and what is in them. */
typedef struct blocks {
  int *counts, *places;
  size_t elements;
} blocks_t;

static int count_of(const scene_t* scene, size_t most, bool varies, bool symmetric, int source, int destination) {
  if (!varies) return (int)most;
  const int a = symmetric && destination < source ? destination : source;
  const int b = symmetric && destination < source ? source : destination;
  return (int)(mixed(key_of(scene, a, b) + 77) % (most + 1));
}

/* `sends`: to each from me; otherwise from each to me. */
static blocks_t draw_blocks(scene_t* scene, call_t* call, dice_t* own, size_t most, bool varies, bool symmetric,
                            bool sends, bool one_destination) {
  const int size = scene->slot->size, rank = scene->slot->rank;
  blocks_t blocks = {keep(call, (size_t)size * sizeof(int)), keep(call, (size_t)size * sizeof(int)), 0};
  const int first = varies ? (int)roll(own, (unsigned)size) : 0;
  for (int i = 0; i < size; ++i) {
    const int peer = (first + i) % size;
    const int other = one_destination ? 0 : sends ? peer : rank;
    blocks.counts[peer] = count_of(scene, most, varies, symmetric, sends ? rank : peer, other);
    blocks.places[peer] = (int)blocks.elements;
    blocks.elements += (size_t)blocks.counts[peer] + (varies ? roll(own, 3) : 0);
  }
  return blocks;
}

static unsigned char* at(const layout_t* layout, unsigned char* buffer, int place) {
  return buffer + layout->extent * (size_t)place;
}

/* Gather and scatter, with and without counts of each. Counts of rank i are those of (i, 0). */
static void rooted(scene_t* scene, bool gathers, bool varies) {
  const MPI_Comm comm = scene->slot->comm;
  const int rank = scene->slot->rank, size = scene->slot->size;
  const int root = (int)roll(&scene->dice, (unsigned)size), family = (int)roll(&scene->dice, FAMILIES);
  size_t most = draw_count(&scene->dice, family);
  if (most * family_size(family) > 100000) most /= (size_t)size;
  const how_t how = draw_how(scene, PERSISTENT_OF_ANY_TYPE, !varies);
  const bool in_place = chance(&scene->dice, 25), garbage = chance(&scene->dice, 50);
  dice_t own = dice_of(scene, rank);
  call_t* call = new_call(scene, gathers ? (varies ? "Gatherv" : "Gather") : (varies ? "Scatterv" : "Scatter"));
  const int mine = count_of(scene, most, varies, false, rank, 0);
  side_t one = draw_side(&own, family, (size_t)mine, false);
  layout_t many = draw_layout(&own, family);
  image_t* own_image = new_image(call, span_of(&one.layout, (size_t)mine));
  unsigned char *own_now = own_image->now, *all_now = NULL;
  blocks_t blocks = {0};
  const bool keeps = rank == root && in_place;
  if (gathers || !keeps) lay_stream(&one.layout, own_image->wanted, key_of(scene, rank, 0), (size_t)mine);
  if (gathers) lay_stream(&one.layout, own_image->now, key_of(scene, rank, 0), (size_t)mine);
  if (rank == root) {
    blocks = draw_blocks(scene, call, &own, most, varies, false, false, true);
    image_t* all = new_image(call, span_of(&many, blocks.elements));
    all_now = all->now;
    for (int i = 0; i < size; ++i) {
      const size_t count = (size_t)blocks.counts[i];
      lay_stream(&many, at(&many, all->wanted, blocks.places[i]), key_of(scene, i, 0), count);
      if (!gathers || (keeps && i == rank))
        lay_stream(&many, at(&many, all->now, blocks.places[i]), key_of(scene, i, 0), count);
    }
  }
  const bool unused = rank != root && garbage; /* arguments that mean nothing here */
  const MPI_Datatype type = unused ? MPI_DATATYPE_NULL : many.type;
  const int count = unused ? -1 : (int)most;
  void* one_buffer = keeps ? MPI_IN_PLACE : own_now;
  int error;
  if (gathers && varies)
    error = ISSUE_WITHOUT_LARGE(Gatherv, gatherv, one_buffer, one.count, one.type, all_now, blocks.counts,
                                blocks.places, type, root);
  else if (gathers)
    error = ISSUE(Gather, gather, one_buffer, one.count, one.type, all_now, count, type, root);
  else if (varies)
    error = ISSUE_WITHOUT_LARGE(Scatterv, scatterv, all_now, blocks.counts, blocks.places, type, one_buffer, one.count,
                                one.type, root);
  else
    error = ISSUE(Scatter, scatter, all_now, count, type, one_buffer, one.count, one.type, root);
  keep_side(call, &one);
  keep_layout(call, &many);
  called(scene, call, how, error);
}

static void allgather(scene_t* scene, bool varies) {
  const MPI_Comm comm = scene->slot->comm;
  const int rank = scene->slot->rank, size = scene->slot->size,
            family = (int)roll(&scene->dice, varies ? EMPTY : FAMILIES);
  size_t most = draw_count(&scene->dice, family);
  if (most * family_size(family) > 100000) most /= (size_t)size;
  const how_t how = draw_how(scene, PERSISTENT_OF_ANY_TYPE, !varies);
  const bool in_place = chance(&scene->dice, 25);
  dice_t own = dice_of(scene, rank);
  call_t* call = new_call(scene, varies ? "Allgatherv" : "Allgather");
  const int mine = count_of(scene, most, varies, false, rank, 0);
  /* Of elements of several sizes Open MPI 4.1.4's ranks choose different algorithms; of empty ones, too. */
  side_t one = draw_side(&own, family, (size_t)mine, varies);
  layout_t many = draw_layout(&own, family);
  image_t* from = new_image(call, span_of(&one.layout, (size_t)mine));
  lay_stream(&one.layout, from->now, key_of(scene, rank, 0), (size_t)mine);
  memcpy(from->wanted, from->now, from->bytes);
  blocks_t blocks = draw_blocks(scene, call, &own, most, varies, false, false, true);
  image_t* to = new_image(call, span_of(&many, blocks.elements));
  for (int i = 0; i < size; ++i) {
    const size_t count = (size_t)blocks.counts[i];
    lay_stream(&many, at(&many, to->wanted, blocks.places[i]), key_of(scene, i, 0), count);
    if (in_place && i == rank) lay_stream(&many, at(&many, to->now, blocks.places[i]), key_of(scene, i, 0), count);
  }
  const void* from_buffer = in_place ? MPI_IN_PLACE : from->now;
  const MPI_Datatype from_type = in_place ? MPI_DATATYPE_NULL : one.type;
  const int from_count = in_place ? 0 : one.count;
  int error;
  if (varies)
    error = ISSUE_WITHOUT_LARGE(Allgatherv, allgatherv, from_buffer, from_count, from_type, to->now, blocks.counts,
                                blocks.places, many.type);
  else
    error = ISSUE(Allgather, allgather, from_buffer, from_count, from_type, to->now, (int)most, many.type);
  keep_side(call, &one);
  keep_layout(call, &many);
  called(scene, call, how, error);
}

static void alltoall(scene_t* scene, bool varies) {
  const MPI_Comm comm = scene->slot->comm;
  const int rank = scene->slot->rank, size = scene->slot->size, family = (int)roll(&scene->dice, FAMILIES);
  size_t most = draw_count(&scene->dice, family);
  if (most * family_size(family) > 20000) most /= (size_t)(size * size);
  const how_t how = draw_how(scene, PERSISTENT_OF_ANY_TYPE, !varies);
  const bool in_place = chance(&scene->dice, 20);
  dice_t own = dice_of(scene, rank);
  call_t* call = new_call(scene, varies ? "Alltoallv" : "Alltoall");
  layout_t to_layout = draw_layout(&own, family), from_layout = draw_layout(&own, family);
  blocks_t to = draw_blocks(scene, call, &own, most, varies, in_place, false, false);
  blocks_t from = draw_blocks(scene, call, &own, most, varies, in_place, true, false);
  image_t* to_image = new_image(call, span_of(&to_layout, to.elements));
  image_t* from_image = new_image(call, span_of(&from_layout, from.elements));
  for (int i = 0; i < size; ++i) {
    unsigned char* const now = at(&to_layout, to_image->now, to.places[i]);
    lay_stream(&to_layout, at(&to_layout, to_image->wanted, to.places[i]), key_of(scene, i, rank),
               (size_t)to.counts[i]);
    if (in_place) lay_stream(&to_layout, now, key_of(scene, rank, i), (size_t)to.counts[i]);
    lay_stream(&from_layout, at(&from_layout, from_image->now, from.places[i]), key_of(scene, rank, i),
               (size_t)from.counts[i]);
  }
  memcpy(from_image->wanted, from_image->now, from_image->bytes);
  const void* from_buffer = in_place ? MPI_IN_PLACE : from_image->now;
  const MPI_Datatype from_type = in_place ? MPI_DATATYPE_NULL : from_layout.type;
  int error;
  if (varies)
    error = ISSUE_WITHOUT_LARGE(Alltoallv, alltoallv, from_buffer, from.counts, from.places, from_type, to_image->now,
                                to.counts, to.places, to_layout.type);
  else
    error = ISSUE(Alltoall, alltoall, from_buffer, (int)most, from_type, to_image->now, (int)most, to_layout.type);
  keep_layout(call, &to_layout);
  keep_layout(call, &from_layout);
  called(scene, call, how, error);
}

/* Each pair of ranks has a family of its own. */
static void alltoallw(scene_t* scene) {
  const MPI_Comm comm = scene->slot->comm;
  const int rank = scene->slot->rank, size = scene->slot->size;
  const size_t most = draw_bytes(&scene->dice) % 4000 / 36 / (size_t)size;
  const how_t how = draw_how(scene, PERSISTENT_OF_ANY_TYPE, false);
  dice_t own = dice_of(scene, rank);
  call_t* call = new_call(scene, "Alltoallw");
  int *counts[2], *places[2];
  MPI_Datatype* types[2];
  layout_t* layouts[2];
  image_t* images[2];
  for (int side = 0; side < 2; ++side) { /* to send, to receive */
    counts[side] = keep(call, (size_t)size * sizeof(int));
    places[side] = keep(call, (size_t)size * sizeof(int));
    types[side] = keep(call, (size_t)size * sizeof(MPI_Datatype));
    layouts[side] = keep(call, (size_t)size * sizeof(layout_t));
    size_t bytes = 0;
    for (int i = 0; i < size; ++i) {
      const int source = side == 0 ? rank : i, destination = side == 0 ? i : rank;
      layouts[side][i] = draw_layout(&own, (int)(mixed(key_of(scene, source, destination) + 5) % FAMILIES));
      types[side][i] = layouts[side][i].type;
      counts[side][i] = count_of(scene, most, true, false, source, destination);
      places[side][i] = (int)bytes;
      bytes += (span_of(&layouts[side][i], (size_t)counts[side][i]) + 7) / 8 * 8;
    }
    images[side] = new_image(call, bytes);
    for (int i = 0; i < size; ++i) {
      const int source = side == 0 ? rank : i, destination = side == 0 ? i : rank;
      lay_stream(&layouts[side][i], images[side]->wanted + places[side][i], key_of(scene, source, destination),
                 (size_t)counts[side][i]);
    }
  }
  memcpy(images[0]->now, images[0]->wanted, images[0]->bytes);
  const int error = ISSUE_WITHOUT_LARGE(Alltoallw, alltoallw, images[0]->now, counts[0], places[0], types[0],
                                        images[1]->now, counts[1], places[1], types[1]);
  for (int i = 0; i < size; ++i) {
    keep_layout(call, &layouts[0][i]);
    keep_layout(call, &layouts[1][i]);
  }
  called(scene, call, how, error);
}

void play_collective(scene_t* scene) {
  switch (roll(&scene->dice, 16)) {
    case 0: barrier(scene); break;
    case 1: rooted(scene, true, false); break;
    case 2: rooted(scene, true, true); break;
    case 3: rooted(scene, false, true); break;
    case 4:
    case 5: rooted(scene, false, false); break;
    case 6: allgather(scene, false); break;
    case 7: allgather(scene, true); break;
    case 8: alltoall(scene, false); break;
    case 9: alltoall(scene, true); break;
    case 10: alltoallw(scene); break;
    default: bcast(scene);
  }
}
