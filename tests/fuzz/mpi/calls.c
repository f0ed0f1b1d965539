/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are complete now or later, and the check of what they have left in memory. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "player.h"

call_t* new_call(const scene_t* scene, const char* name) {
  call_t* call = calloc(1, sizeof *call);
  call->operation = scene->operation;
  call->name = name;
  call->request = MPI_REQUEST_NULL;
  doing(scene->player, scene->operation, name);
  return call;
}

void* keep(call_t* call, size_t bytes) {
  if (call->kept_count == KEPT) abort();
  return call->kept[call->kept_count++] = calloc(1, bytes + 1);
}

void keep_type(call_t* call, MPI_Datatype type) {
  call->types = realloc(call->types, (size_t)(call->type_count + 1) * sizeof type);
  call->types[call->type_count++] = type;
}

image_t* new_image(call_t* call, size_t bytes) {
  if (call->image_count == IMAGES) abort();
  image_t* image = &call->images[call->image_count++];
  image->bytes = bytes;
  image->now = malloc(bytes + 1);
  image->wanted = malloc(bytes + 1);
  memset(image->now, 0xa5, bytes);
  memset(image->wanted, 0xa5, bytes);
  return image;
}

void check_call(player_t* player, call_t* call, const MPI_Status* status) {
  for (int i = 0; i < call->image_count; ++i) {
    const image_t* image = &call->images[i];
    if (memcmp(image->now, image->wanted, image->bytes) == 0) continue;
    size_t at = 0;
    while (image->now[at] == image->wanted[at]) ++at;
    differs(player, call->operation, call->name,
            call->persistent ? "persistent, wrong byte of the buffer at, of" : "wrong byte of the buffer at, of",
            (long)at, (long)image->bytes);
  }
  if (!call->checks_status || status == NULL) return;
  int bytes = 0;
  MPI_Get_elements(status, MPI_BYTE, &bytes);
  if (status->MPI_SOURCE != call->source)
    differs(player, call->operation, call->name, "source of the status, expected", status->MPI_SOURCE, call->source);
  if (status->MPI_TAG != call->tag)
    differs(player, call->operation, call->name, "tag of the status, expected", status->MPI_TAG, call->tag);
  if (bytes != MPI_UNDEFINED && (size_t)bytes != call->received)
    differs(player, call->operation, call->name, "bytes of the status, expected", bytes, (long)call->received);
}

void end_call(call_t* call) {
  for (int i = 0; i < call->image_count; ++i) {
    free(call->images[i].now);
    free(call->images[i].wanted);
  }
  for (int i = 0; i < call->kept_count; ++i) free(call->kept[i]);
  for (int i = 0; i < call->type_count; ++i) MPI_Type_free(&call->types[i]);
  free(call->types);
  free(call);
}

static size_t bytes_of(const call_t* call) {
  size_t bytes = 0;
  for (int i = 0; i < call->image_count; ++i) bytes += call->images[i].bytes;
  return bytes;
}

void add_pending(player_t* player, call_t* call) {
  if (player->pending_count == PENDING) abort();
  player->pending[player->pending_count++] = call;
  player->pending_bytes += bytes_of(call);
}

void make_room(player_t* player, dice_t dice) {
  const bool full = player->pending_count > PENDING / 3 || player->pending_bytes > (8u << 20);
  if (full) complete(player, dice, true);
}

static void finished(player_t* player, int index, const MPI_Status* status) {
  call_t* call = player->pending[index];
  check_call(player, call, status);
  if (call->persistent) MPI_Request_free(&call->request);
  player->pending_bytes -= bytes_of(call);
  player->pending[index] = player->pending[--player->pending_count];
  end_call(call);
}

static void relax(unsigned tests) {
  if (tests % 64 == 0)
    usleep(20);
  else
    sched_yield();
}

static void shuffle(player_t* player, dice_t* dice) {
  for (int i = player->pending_count - 1; i > 0; --i) {
    const int j = (int)roll(dice, (unsigned)i + 1);
    call_t* other = player->pending[i];
    player->pending[i] = player->pending[j];
    player->pending[j] = other;
  }
}

/* MPICH 4.0.2's MPI_Testall fails for persistent collectives. */
static bool can_test_all(const player_t* player, int from) {
  bool can = true;
#ifndef OPEN_MPI
  for (int i = from; i < player->pending_count; ++i)
    can = can && !(player->pending[i]->persistent && player->pending[i]->is_collective);
#else
  (void)player;
  (void)from;
#endif
  return can;
}

static void wait_all(player_t* player, int from, bool tests) {
  doing_now(player, !tests ? "Waitall" : "Testall");
  MPI_Request requests[PENDING];
  MPI_Status statuses[PENDING];
  const int count = player->pending_count - from;
  for (int i = 0; i < count; ++i) requests[i] = player->pending[from + i]->request;
  if (tests) {
    int done = 0;
    for (unsigned n = 1; !done; ++n) {
      MPI_Testall(count, requests, &done, statuses);
      if (!done) relax(n);
    }
  } else {
    MPI_Waitall(count, requests, statuses);
  }
  for (int i = count - 1; i >= 0; --i) {
    player->pending[from + i]->request = requests[i];
    finished(player, from + i, &statuses[i]);
  }
}

static void wait_any(player_t* player, int from, bool tests) {
  doing_now(player, !tests ? "Waitany" : "Testany");
  MPI_Request requests[PENDING];
  const int count = player->pending_count - from;
  for (int i = 0; i < count; ++i) requests[i] = player->pending[from + i]->request;
  int index = MPI_UNDEFINED;
  MPI_Status status;
  if (tests) {
    int done = 0;
    for (unsigned n = 1; !done; ++n) {
      MPI_Testany(count, requests, &index, &done, &status);
      if (!done) relax(n);
    }
  } else {
    MPI_Waitany(count, requests, &index, &status);
  }
  if (index == MPI_UNDEFINED) abort();
  player->pending[from + index]->request = requests[index];
  finished(player, from + index, &status);
}

static void wait_some(player_t* player, int from, bool tests) {
  doing_now(player, !tests ? "Waitsome" : "Testsome");
  MPI_Request requests[PENDING];
  MPI_Status statuses[PENDING], status_of[PENDING];
  int indices[PENDING], some = 0;
  bool is_done[PENDING] = {false};
  const int count = player->pending_count - from;
  for (int i = 0; i < count; ++i) requests[i] = player->pending[from + i]->request;
  if (tests) {
    for (unsigned n = 1; some == 0; ++n) {
      MPI_Testsome(count, requests, &some, indices, statuses);
      if (some == 0) relax(n);
    }
  } else {
    MPI_Waitsome(count, requests, &some, indices, statuses);
  }
  for (int i = 0; i < some; ++i) {
    is_done[indices[i]] = true;
    status_of[indices[i]] = statuses[i];
  }
  for (int i = count - 1; i >= 0; --i) {
    player->pending[from + i]->request = requests[i];
    if (is_done[i]) finished(player, from + i, &status_of[i]);
  }
}

static void wait_one(player_t* player, bool tests) {
  doing_now(player, !tests ? "Wait" : "Test");
  MPI_Status status;
  const int last = player->pending_count - 1;
  MPI_Request* request = &player->pending[last]->request;
  int done = 0;
  if (tests) {
    for (unsigned n = 1; !done; ++n) {
      MPI_Test(request, &done, &status);
      if (!done) relax(n);
    }
  } else {
    MPI_Wait(request, &status);
  }
  finished(player, last, &status);
}

void complete(player_t* player, dice_t dice, bool all) {
  while (player->pending_count > 0) {
    shuffle(player, &dice);
    const int from = all ? 0 : (int)roll(&dice, (unsigned)player->pending_count);
    const bool tests = chance(&dice, 40);
    switch (roll(&dice, 4)) {
      case 0: wait_all(player, from, tests && can_test_all(player, from)); break;
      case 1: wait_any(player, from, tests); break;
      case 2: wait_some(player, from, tests); break;
      default: wait_one(player, tests);
    }
    if (!all && chance(&dice, 50)) return;
  }
}
