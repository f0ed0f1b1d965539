/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives among neighbours of a grid or a graph. */
#include <string.h>

#include "forms.h"
#include "layout.h"
#include "player.h"

static uint64_t key_of(const scene_t* scene, int source, int destination) {
  return mixed(scene->player->seed * 37 + (uint64_t)scene->operation) + (uint64_t)(source * 4096 + destination);
}

static int count_of(const scene_t* scene, size_t most, int source, int destination) {
  return (int)(mixed(key_of(scene, source, destination) + 3) % (most + 1));
}

enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW };
#ifdef MPICH
enum { KINDS = ALLTOALLW }; /* MPICH 4.0.2 itself writes wrong bytes in MPI_Neighbor_alltoallw */
#else
enum { KINDS = ALLTOALLW + 1 };
#endif

typedef struct neighbour_side {
  int *counts, *places;
  MPI_Aint* bytes;
  MPI_Datatype* types;
  layout_t layout;
  image_t* image;
} neighbour_side_t;

/* One block for each neighbour, whose `peers` they are; a block of an allgather is the same to all. */
static neighbour_side_t draw_neighbour_side(scene_t* scene, call_t* call, dice_t* own, int kind, int family,
                                            size_t most, bool sends) {
  const slot_t* slot = scene->slot;
  const int degree = sends ? slot->out_degree : slot->in_degree;
  const int* peers = sends ? slot->out : slot->in;
  const bool same = kind == ALLGATHER || kind == ALLGATHERV, varies = kind != ALLGATHER && kind != ALLTOALL;
  const int blocks = same && sends ? 1 : degree;
  neighbour_side_t side = {.layout = draw_layout(own, family)};
  side.counts = keep(call, (size_t)(degree + 1) * sizeof(int));
  side.places = keep(call, (size_t)(degree + 1) * sizeof(int));
  side.bytes = keep(call, (size_t)(degree + 1) * sizeof(MPI_Aint));
  side.types = keep(call, (size_t)(degree + 1) * sizeof(MPI_Datatype));
  size_t elements = 0;
  for (int i = 0; i < blocks; ++i) {
    const int peer = same && sends ? 0 : peers[i];
    const int source = sends ? slot->rank : peer, destination = same ? 0 : sends ? peer : slot->rank;
    side.counts[i] = varies ? count_of(scene, most, source, destination) : (int)most;
    side.places[i] = (int)elements;
    side.bytes[i] = (MPI_Aint)(elements * side.layout.extent);
    side.types[i] = side.layout.type;
    elements += (size_t)side.counts[i] + (varies ? roll(own, 3) : 0);
  }
  side.image = new_image(call, span_of(&side.layout, elements));
  for (int i = 0; i < blocks; ++i) {
    const int peer = same && sends ? 0 : peers[i];
    if (peer == MPI_PROC_NULL) continue; /* the place stays as it is */
    const int source = sends ? slot->rank : peer, destination = same ? 0 : sends ? peer : slot->rank;
    lay_stream(&side.layout, side.image->wanted + side.layout.extent * (size_t)side.places[i],
               key_of(scene, source, destination), (size_t)side.counts[i]);
  }
  if (sends) memcpy(side.image->now, side.image->wanted, side.image->bytes);
  return side;
}

void play_neighbours(scene_t* scene) {
  static const char* const names[] = {"Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
                                      "Neighbor_alltoallv", "Neighbor_alltoallw"};
  const MPI_Comm comm = scene->slot->comm;
  const int kind = (int)roll(&scene->dice, KINDS), family = (int)roll(&scene->dice, EMPTY);
  size_t most = draw_count(&scene->dice, family);
  if (most * family_size(family) > 20000) most /= 8;
  const how_t how = draw_how(scene, PERSISTENT_OF_ANY_TYPE, kind == ALLGATHER || kind == ALLTOALL);
  dice_t own = dice_of(scene, scene->slot->rank);
  call_t* call = new_call(scene, names[kind]);
  neighbour_side_t from = draw_neighbour_side(scene, call, &own, kind, family, most, true);
  neighbour_side_t to = draw_neighbour_side(scene, call, &own, kind, family, most, false);
  const void* out = from.image->now;
  void* in = to.image->now;
  const MPI_Datatype out_type = from.layout.type, in_type = to.layout.type;
  const int count = (int)most;
  int error;
  switch (kind) {
    case ALLGATHER:
      error = ISSUE(Neighbor_allgather, neighbor_allgather, out, count, out_type, in, count, in_type);
      break;
    case ALLGATHERV:
      error = ISSUE_WITHOUT_LARGE(Neighbor_allgatherv, neighbor_allgatherv, out, from.counts[0], out_type, in,
                                  to.counts, to.places, in_type);
      break;
    case ALLTOALL: error = ISSUE(Neighbor_alltoall, neighbor_alltoall, out, count, out_type, in, count, in_type); break;
    case ALLTOALLV:
      error = ISSUE_WITHOUT_LARGE(Neighbor_alltoallv, neighbor_alltoallv, out, from.counts, from.places, out_type, in,
                                  to.counts, to.places, in_type);
      break;
    default:
      error = ISSUE_WITHOUT_LARGE(Neighbor_alltoallw, neighbor_alltoallw, out, from.counts, from.bytes, from.types, in,
                                  to.counts, to.bytes, to.types);
  }
  keep_layout(call, &from.layout);
  keep_layout(call, &to.layout);
  called(scene, call, how, error);
}
