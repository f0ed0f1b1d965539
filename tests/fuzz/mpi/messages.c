/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point messages in all modes. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "player.h"

enum { HIGHEST_TAG = 30000 };

static uint64_t key_of(const scene_t* scene, unsigned message) {
  return mixed(scene->player->seed * 17 + (uint64_t)scene->operation * 512 + message);
}

/* One message: both sides know all of this. */
typedef struct message {
  int from, to, tag, family;
  size_t groups;
  uint64_t key;
} message_t;

static message_t draw_message(scene_t* scene, unsigned number) {
  dice_t* dice = &scene->dice;
  const unsigned size = (unsigned)scene->slot->size;
  message_t m = {.from = (int)roll(dice, size), .to = (int)roll(dice, size), .family = (int)roll(dice, FAMILIES)};
  m.tag = (int)(scene->operation % HIGHEST_TAG);
  m.groups = draw_count(dice, m.family);
  m.key = key_of(scene, number);
  return m;
}

typedef struct end {
  layout_t layout;
  image_t* image;
} end_t;

static end_t sending(call_t* call, dice_t* own, const message_t* m) {
  end_t end = {draw_layout(own, m->family), NULL};
  end.image = new_image(call, span_of(&end.layout, m->groups));
  lay_stream(&end.layout, end.image->wanted, m->key, m->groups);
  memcpy(end.image->now, end.image->wanted, end.image->bytes);
  return end;
}

/* Of the communicator's rank, for a message that may be shorter than the place for it. */
static end_t receiving(call_t* call, dice_t* own, const message_t* m, size_t spare) {
  end_t end = {draw_layout(own, m->family), NULL};
  end.image = new_image(call, span_of(&end.layout, m->groups + spare));
  lay_stream(&end.layout, end.image->wanted, m->key, m->groups);
  call->checks_status = true;
  call->source = m->from;
  call->tag = m->tag;
  call->received = m->groups * family_size(m->family);
  return end;
}

static void settle(scene_t* scene, call_t* call, const MPI_Status* status) {
  check_call(scene->player, call, status);
  end_call(call);
}

enum { SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, IRSEND, SEND_INIT, SSEND_INIT, SEND_LARGE, SENDS };

static void send_one(scene_t* scene, dice_t* own, const message_t* m, int mode, MPI_Comm comm) {
  static const char* const names[] = {"Send",   "Ssend",  "Bsend",     "Rsend",      "Isend",
                                      "Issend", "Irsend", "Send_init", "Ssend_init", "Send_c"};
  call_t* call = new_call(scene, names[mode]);
  end_t end = sending(call, own, m);
  const void* from = end.image->now;
  const int count = (int)m->groups, to = m->to, tag = m->tag;
  const MPI_Datatype type = end.layout.type;
  void* attached = NULL;
  bool later = false;
  switch (mode) {
    case SEND: MPI_Send(from, count, type, to, tag, comm); break;
    case SSEND: MPI_Ssend(from, count, type, to, tag, comm); break;
    case BSEND: {
      int room = 0;
      MPI_Pack_size(count, type, comm, &room);
      attached = malloc((size_t)room + MPI_BSEND_OVERHEAD + 64);
      MPI_Buffer_attach(attached, room + MPI_BSEND_OVERHEAD + 64);
      MPI_Bsend(from, count, type, to, tag, comm);
      memset(end.image->now, 1, end.image->bytes); /* it has been copied */
      memcpy(end.image->wanted, end.image->now, end.image->bytes);
      void* detached;
      int size;
      MPI_Buffer_detach(&detached, &size);
      free(attached);
      break;
    }
    case RSEND: MPI_Rsend(from, count, type, to, tag, comm); break;
    case ISEND: MPI_Isend(from, count, type, to, tag, comm, &call->request); break;
    case ISSEND: MPI_Issend(from, count, type, to, tag, comm, &call->request); break;
    case IRSEND: MPI_Irsend(from, count, type, to, tag, comm, &call->request); break;
    case SEND_INIT: MPI_Send_init(from, count, type, to, tag, comm, &call->request); break;
    case SSEND_INIT: MPI_Ssend_init(from, count, type, to, tag, comm, &call->request); break;
    default:
#if MPI_VERSION >= 4
      MPI_Send_c(from, count, type, to, tag, comm);
#else
      MPI_Send(from, count, type, to, tag, comm);
#endif
  }
  later = mode >= ISEND && mode != SEND_LARGE;
  drop_layout(&end.layout);
  call->persistent = mode == SEND_INIT || mode == SSEND_INIT;
  if (call->persistent) MPI_Start(&call->request);
  if (later)
    add_pending(scene->player, call);
  else
    settle(scene, call, NULL);
}

enum { RECV, IRECV, RECV_INIT, PROBE, MPROBE, IPROBE, IMPROBE, RECV_LARGE, RECEIVES };

static void receive_one(scene_t* scene, dice_t* own, const message_t* m, int mode, bool any_source, bool any_tag,
                        MPI_Comm comm) {
  static const char* const names[] = {"Recv", "Irecv", "Recv_init", "Probe", "Mprobe", "Iprobe", "Improbe", "Recv_c"};
  call_t* call = new_call(scene, names[mode]);
  end_t end = receiving(call, own, m, roll(own, 3));
  void* to = end.image->now;
  const size_t fits = (end.image->bytes - 64) / (end.layout.extent > 0 ? end.layout.extent : 1);
  const int count = (int)(end.layout.extent > 0 ? fits : m->groups);
  const int source = any_source ? MPI_ANY_SOURCE : m->from, tag = any_tag ? MPI_ANY_TAG : m->tag;
  const MPI_Datatype type = end.layout.type;
  MPI_Status status, seen = {.MPI_SOURCE = -9, .MPI_TAG = -9};
  MPI_Message message;
  int found = 0;
  switch (mode) {
    case RECV: MPI_Recv(to, count, type, source, tag, comm, &status); break;
    case IRECV: MPI_Irecv(to, count, type, source, tag, comm, &call->request); break;
    case RECV_INIT:
      MPI_Recv_init(to, count, type, source, tag, comm, &call->request);
      call->persistent = true;
      MPI_Start(&call->request);
      break;
    case PROBE:
      MPI_Probe(source, tag, comm, &seen);
      MPI_Recv(to, count, type, seen.MPI_SOURCE, seen.MPI_TAG, comm, &status);
      break;
    case MPROBE:
      MPI_Mprobe(source, tag, comm, &message, &seen);
      MPI_Mrecv(to, count, type, &message, &status);
      expect(scene, message == MPI_MESSAGE_NULL, "message after Mrecv", 0, 0);
      break;
    case IPROBE:
      for (unsigned n = 1; !found; ++n) {
        MPI_Iprobe(source, tag, comm, &found, &seen);
        if (!found) n % 64 == 0 ? (void)usleep(20) : (void)sched_yield();
      }
      MPI_Recv(to, count, type, seen.MPI_SOURCE, seen.MPI_TAG, comm, &status);
      break;
    case IMPROBE:
      for (unsigned n = 1; !found; ++n) {
        MPI_Improbe(source, tag, comm, &found, &message, &seen);
        if (!found) n % 64 == 0 ? (void)usleep(20) : (void)sched_yield();
      }
      MPI_Imrecv(to, count, type, &message, &call->request);
      break;
    default:
#if MPI_VERSION >= 4
      MPI_Recv_c(to, count, type, source, tag, comm, &status);
#else
      MPI_Recv(to, count, type, source, tag, comm, &status);
#endif
  }
  drop_layout(&end.layout);
  if (mode == IRECV || mode == RECV_INIT || mode == IMPROBE)
    add_pending(scene->player, call);
  else
    settle(scene, call, &status);
}

/* The receiver has said that its receive is posted. */
static void send_when_ready(scene_t* scene, dice_t* own, const message_t* m, int mode, MPI_Comm comm) {
  int told = 0;
  MPI_Recv(&told, 1, MPI_INT, m->to, m->tag, comm, MPI_STATUS_IGNORE);
  expect(scene, told == (int)scene->operation, "ready", told, scene->operation);
  send_one(scene, own, m, mode, comm);
}

/* One message from one rank to another. */
void play_message(scene_t* scene) {
  message_t m = draw_message(scene, 0);
  int mode = (int)roll(&scene->dice, SENDS), receive = (int)roll(&scene->dice, RECEIVES);
  const bool any_source = chance(&scene->dice, 25), any_tag = chance(&scene->dice, 25) && !any_source;
  const int rank = scene->slot->rank;
  const MPI_Comm comm = scene->slot->comm;
  if (mode == BSEND && !scene->player->alone) mode = SEND; /* the buffer belongs to the process */
  const bool ready = mode == RSEND || mode == IRSEND;
  if (m.from == m.to) { /* to itself: nothing that waits for the other side */
    mode = mode % 2 == 0 ? ISEND : SEND_INIT;
    receive = receive == RECV_LARGE ? RECV : receive;
  } else if (ready) {
    receive = receive % 2 == 0 ? IRECV : RECV_INIT;
  }
  dice_t own = dice_of(scene, rank);
  if (rank == m.from && m.from != m.to && ready)
    send_when_ready(scene, &own, &m, mode, comm);
  else if (rank == m.from)
    send_one(scene, &own, &m, mode, comm);
  if (rank != m.to) return;
  receive_one(scene, &own, &m, receive, any_source, any_tag, comm);
  if (m.from == m.to || !ready) return;
  const int told = (int)scene->operation;
  MPI_Send(&told, 1, MPI_INT, m.from, m.tag, comm);
}

/* Several at once, between any ranks: receives are posted first. */
void play_messages(scene_t* scene) {
  message_t messages[12];
  const unsigned count = 2 + roll(&scene->dice, 10);
  for (unsigned i = 0; i < count; ++i) messages[i] = draw_message(scene, i);
  dice_t own = dice_of(scene, scene->slot->rank);
  for (unsigned i = 0; i < count; ++i) {
    if (messages[i].groups * family_size(messages[i].family) > 100000) messages[i].groups = 3;
    const int receive = chance(&own, 80) ? IRECV : RECV_INIT;
    if (messages[i].to == scene->slot->rank)
      receive_one(scene, &own, &messages[i], receive, false, chance(&own, 25), scene->slot->comm);
  }
  for (unsigned i = 0; i < count; ++i) {
    static const int modes[] = {ISEND, ISEND, ISSEND, SEND_INIT, SSEND_INIT};
    if (messages[i].from == scene->slot->rank)
      send_one(scene, &own, &messages[i], modes[roll(&own, 5)], scene->slot->comm);
  }
}

/* Many ranks send to one that asks for any source and any tag, on a communicator of their own: what comes is recognised
 * by its content. */
void play_fan_in(scene_t* scene) {
  enum { MOST = 6 };
  const int size = scene->slot->size, rank = scene->slot->rank;
  const int to = (int)roll(&scene->dice, (unsigned)size), each = 1 + (int)roll(&scene->dice, MOST);
  const unsigned receive = roll(&scene->dice, 4);
  if (size == 1) return;
  MPI_Comm comm;
  doing(scene->player, scene->operation, "fan in");
  MPI_Comm_dup(scene->slot->comm, &comm);
  int next[64] = {0};
  dice_t own = dice_of(scene, rank);
  if (rank != to) {
    for (int i = 0; i < each; ++i) {
      const int64_t content[3] = {scene->operation, rank, i};
      if (chance(&own, 50))
        MPI_Send(content, 3, MPI_INT64_T, to, 100 * rank + i, comm);
      else
        MPI_Ssend(content, 3, MPI_INT64_T, to, 100 * rank + i, comm);
    }
  } else {
    for (int n = 0; n < each * (size - 1); ++n) {
      int64_t content[3] = {0};
      MPI_Status status;
      MPI_Message message;
      MPI_Request request;
      if (receive == 0) {
        MPI_Recv(content, 3, MPI_INT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      } else if (receive == 1) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
        MPI_Mrecv(content, 3, MPI_INT64_T, &message, &status);
      } else if (receive == 2) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        MPI_Recv(content, 3, MPI_INT64_T, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
      } else {
        MPI_Irecv(content, 3, MPI_INT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
        MPI_Wait(&request, &status);
      }
      const int from = status.MPI_SOURCE;
      expect(scene, content[0] == scene->operation && content[1] == from, "fan in: content", content[0], content[1]);
      if (from < 0 || from >= 64) continue;
      expect(scene, content[2] == next[from], "fan in: order of a source's messages", content[2], next[from]);
      expect(scene, status.MPI_TAG == 100 * from + next[from], "fan in: tag", status.MPI_TAG, next[from]);
      ++next[from];
    }
  }
  MPI_Comm_free(&comm);
}

/* Each rank sends to one neighbour and receives from another. */
void play_exchange(scene_t* scene) {
  const int size = scene->slot->size, rank = scene->slot->rank;
  const int distance = (int)roll(&scene->dice, (unsigned)size), family = (int)roll(&scene->dice, FAMILIES);
  const bool open = chance(&scene->dice, 20); /* the last rank has no receiver */
  unsigned form = roll(&scene->dice, 3);
#ifndef OPEN_MPI
  if (form == 1 && family > 2) form = 0; /* MPICH 4.0.2 finds its own message of packed structs truncated */
#endif
  const size_t groups = draw_count(&scene->dice, family);
  const int to = open && rank + distance >= size ? MPI_PROC_NULL : (rank + distance) % size;
  const int from = open && rank < distance ? MPI_PROC_NULL : (rank - distance + size) % size;
  const MPI_Comm comm = scene->slot->comm;
  dice_t own = dice_of(scene, rank);
  message_t out = {rank, to, (int)(scene->operation % HIGHEST_TAG), family, groups, key_of(scene, (unsigned)rank)};
  message_t in = {from, rank, out.tag, family, groups, key_of(scene, (unsigned)from)};
  call_t* call = new_call(scene, form == 0 ? "Sendrecv" : form == 1 ? "Sendrecv_replace" : "Isend and Recv");
  MPI_Status status;
  const int tag = chance(&own, 30) ? MPI_ANY_TAG : in.tag;
  end_t leaving = sending(call, &own, &out);
  if (form == 1) {
    if (from != MPI_PROC_NULL) {
      memset(leaving.image->wanted, 0xa5, leaving.image->bytes);
      lay_stream(&leaving.layout, leaving.image->wanted, in.key, groups);
    }
    MPI_Sendrecv_replace(leaving.image->now, (int)groups, leaving.layout.type, to, out.tag, from, tag, comm, &status);
  } else {
    end_t coming = receiving(call, &own, &in, 0);
    if (from == MPI_PROC_NULL) memcpy(coming.image->wanted, coming.image->now, coming.image->bytes);
    if (form == 0) {
      MPI_Sendrecv(leaving.image->now, (int)groups, leaving.layout.type, to, out.tag, coming.image->now, (int)groups,
                   coming.layout.type, from, tag, comm, &status);
    } else {
      MPI_Request request;
      MPI_Isend(leaving.image->now, (int)groups, leaving.layout.type, to, out.tag, comm, &request);
      MPI_Recv(coming.image->now, (int)groups, coming.layout.type, from, tag, comm, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    drop_layout(&coming.layout);
  }
  drop_layout(&leaving.layout);
  call->checks_status = true;
  call->source = from;
  call->tag = from == MPI_PROC_NULL ? MPI_ANY_TAG : in.tag;
  call->received = from == MPI_PROC_NULL ? 0 : groups * family_size(family);
  settle(scene, call, &status);
}

/* A receive that nothing is ever sent to. */
void play_cancelled(scene_t* scene) {
  int untouched = 7, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  doing(scene->player, scene->operation, "Cancel");
  MPI_Irecv(&untouched, 1, MPI_INT, MPI_ANY_SOURCE, HIGHEST_TAG + 1, scene->slot->comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  expect(scene, cancelled && untouched == 7, "Cancel", cancelled, untouched);
}
