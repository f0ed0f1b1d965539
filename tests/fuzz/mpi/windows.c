/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided accesses, each in an epoch whose end makes the result known. */
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "player.h"

static int64_t value_of(const scene_t* scene, int source, int index) {
  return (int64_t)(mixed((uint64_t)scene->operation * 4096 + (uint64_t)(source * 64 + index)) % 1000000);
}

/* Each rank puts into the next rank's part, and gets from it in the next epoch. */
static void fences(scene_t* scene, MPI_Win window, int64_t* memory, int cells) {
  const int size = scene->slot->size, rank = scene->slot->rank, to = (rank + 1) % size, from = (rank + size - 1) % size;
  int64_t sent[64], back[64] = {0};
  MPI_Win_fence(0, window);
  for (int i = 0; i < cells; ++i) {
    sent[i] = value_of(scene, rank, i);
    MPI_Put(&sent[i], 1, MPI_INT64_T, to, i, 1, MPI_INT64_T, window);
  }
  MPI_Win_fence(0, window);
  for (int i = 0; i < cells; ++i)
    expect(scene, memory[i] == value_of(scene, from, i), "Put and fence", (long)memory[i], i);
  MPI_Win_fence(0, window);
  MPI_Get(back, cells, MPI_INT64_T, to, 0, cells, MPI_INT64_T, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < cells; ++i) expect(scene, back[i] == sent[i], "Get and fence", (long)back[i], i);
}

/* Each rank adds to the cells of one rank. */
static void locks(scene_t* scene, MPI_Win window, int cells) {
  const int size = scene->slot->size, rank = scene->slot->rank, at = (int)roll(&scene->dice, (unsigned)size);
  const bool all = chance(&scene->dice, 50), flushes = chance(&scene->dice, 50);
  const unsigned kind = roll(&scene->dice, 3);
  int64_t sum = 0, wanted = 0;
  if (all)
    MPI_Win_lock_all(0, window);
  else
    MPI_Win_lock(kind == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, at, 0, window);
  int64_t added[64], before = -1;
  for (int i = 0; i < cells; ++i) {
    added[i] = value_of(scene, rank, i);
    if (kind == 1)
      MPI_Fetch_and_op(&added[i], &before, MPI_INT64_T, at, i, MPI_SUM, window);
    else
      MPI_Accumulate(&added[i], 1, MPI_INT64_T, at, i, 1, MPI_INT64_T, MPI_SUM, window);
    if (flushes || kind == 1) MPI_Win_flush(at, window);
  }
  if (all)
    MPI_Win_unlock_all(window);
  else
    MPI_Win_unlock(at, window);
  MPI_Barrier(scene->slot->comm);
  for (int i = 0; i < cells; ++i) {
    wanted = 0;
    for (int source = 0; source < size; ++source) wanted += value_of(scene, source, i);
    MPI_Win_lock(MPI_LOCK_SHARED, at, 0, window);
    MPI_Get(&sum, 1, MPI_INT64_T, at, i, 1, MPI_INT64_T, window);
    MPI_Win_unlock(at, window);
    expect(scene, sum == wanted, "Accumulate and lock", (long)sum, (long)wanted);
  }
  MPI_Barrier(scene->slot->comm);
}

/* One exposes, the others access. */
static void epochs(scene_t* scene, MPI_Win window, int64_t* memory) {
  const int size = scene->slot->size, rank = scene->slot->rank, at = (int)roll(&scene->dice, (unsigned)size);
  if (size > 64) return;
  MPI_Group all, others, one;
  MPI_Comm_group(scene->slot->comm, &all);
  MPI_Group_incl(all, 1, &at, &one);
  MPI_Group_excl(all, 1, &at, &others);
  if (rank == at) {
    MPI_Win_post(others, 0, window);
    MPI_Win_wait(window);
    for (int source = 0; source < size; ++source) {
      if (source != at)
        expect(scene, memory[source] == value_of(scene, source, 0), "Put and post", (long)memory[source], source);
    }
  } else {
    const int64_t sent = value_of(scene, rank, 0);
    MPI_Win_start(one, 0, window);
    MPI_Put(&sent, 1, MPI_INT64_T, at, rank, 1, MPI_INT64_T, window);
    MPI_Win_complete(window);
  }
  MPI_Group_free(&one);
  MPI_Group_free(&others);
  MPI_Group_free(&all);
}

/* A counter that only one rank at a time finds as it was. */
static void atomics(scene_t* scene, MPI_Win window) {
  const int size = scene->slot->size, at = (int)roll(&scene->dice, (unsigned)size);
  int64_t found = -1;
  for (bool done = false; !done;) {
    MPI_Win_lock(MPI_LOCK_SHARED, at, 0, window);
    int64_t seen = -1;
    MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, at, 0, MPI_NO_OP, window);
    MPI_Win_flush(at, window);
    const int64_t next = seen + 1;
    MPI_Compare_and_swap(&next, &seen, &found, MPI_INT64_T, at, 0, window);
    MPI_Win_unlock(at, window);
    done = found == seen;
  }
  int64_t sum = 0;
  MPI_Allreduce(&found, &sum, 1, MPI_INT64_T, MPI_SUM, scene->slot->comm);
  expect(scene, sum == (int64_t)size * (size - 1) / 2, "Compare_and_swap", (long)sum, size);
}

void play_window(scene_t* scene) {
  const MPI_Comm comm = scene->slot->comm;
  const int cells = 1 + (int)roll(&scene->dice, 8), room = 64;
  const bool allocates = chance(&scene->dice, 50);
  const unsigned kind = roll(&scene->dice, 4);
  int64_t* memory = NULL;
  MPI_Win window;
  doing(scene->player, scene->operation, "window");
  if (allocates) {
    MPI_Win_allocate(room * 8, 8, MPI_INFO_NULL, comm, &memory, &window);
  } else {
    memory = calloc((size_t)room, 8);
    MPI_Win_create(memory, room * 8, 8, MPI_INFO_NULL, comm, &window);
  }
  memset(memory, 0, (size_t)room * 8);
  MPI_Barrier(comm);
  switch (kind) {
    case 0: fences(scene, window, memory, cells); break;
    case 1: locks(scene, window, cells); break;
    case 2: epochs(scene, window, memory); break;
    default: atomics(scene, window);
  }
  MPI_Win_free(&window);
  if (!allocates) free(memory);
}
