/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter of random MPI programs. A script is a row of operations, each of which depends on the seed and on its
 * own number only: every rank works out the same script, and any of its operations can be left out without changing the
 * others.
 *
 * A player executes one script, in one thread. With MPI_THREAD_MULTIPLE a rank has several, each on communicators of
 * its own. */
#pragma once
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { SLOTS = 6, PENDING = 64, IMAGES = 3, KEPT = 16, NEIGHBOURS = 16 };

/* Numbers that are the same at all ranks. */
typedef struct dice {
  uint64_t state;
} dice_t;
uint64_t mixed(uint64_t value);
unsigned roll(dice_t* dice, unsigned below);
bool chance(dice_t* dice, unsigned percent);

/* A communicator of the script. `set` is known to all ranks, `comm` is MPI_COMM_NULL at ranks that are no members. */
typedef struct slot {
  bool set;
  MPI_Comm comm;
  int rank, size;
  bool has_neighbours;
  int in_degree, out_degree;
  int in[NEIGHBOURS], out[NEIGHBOURS]; /* ranks; MPI_PROC_NULL at the border of a grid */
} slot_t;

/* A buffer, and what must be in it once the call is complete. */
typedef struct image {
  unsigned char *now, *wanted;
  size_t bytes;
} image_t;

/* A call that may be complete only later, with all that it needs until then. */
typedef struct call {
  long operation;
  const char* name;
  MPI_Request request;
  bool persistent, is_collective;
  image_t images[IMAGES];
  int image_count;
  void* kept[KEPT];
  int kept_count;
  MPI_Datatype* types; /* Open MPI's nonblocking collectives need them until they are complete */
  int type_count;
  bool checks_status;
  int source, tag;
  size_t received; /* bytes */
} call_t;

typedef struct player {
  int number;
  uint64_t seed;
  slot_t slots[SLOTS];
  call_t* pending[PENDING];
  int pending_count;
  size_t pending_bytes;
  long executed, differences;
  bool alone; /* the only player of this rank */
  bool delays;
} player_t;

/* What the present operation is about. */
typedef struct scene {
  player_t* player;
  long operation;
  dice_t dice;  /* the same at all ranks */
  slot_t* slot; /* whose members take part */
} scene_t;

/* Numbers of this rank of the scene's communicator, or of any other: known to all ranks. */
dice_t dice_of(const scene_t* scene, int rank);

/* For the alarm: what each player is doing. */
void doing(const player_t* player, long operation, const char* what);
void doing_now(const player_t* player, const char* what);

/* A difference to what the standard says: printed, and counted. */
void differs(player_t* player, long operation, const char* what, const char* how, long a, long b);
void expect(const scene_t* scene, bool right, const char* what, long a, long b);

/* calls.c */
call_t* new_call(const scene_t* scene, const char* name);
/* Memory that lives as long as the call. */
void* keep(call_t* call, size_t bytes);
/* Frees the type once the call is complete. */
void keep_type(call_t* call, MPI_Datatype type);
/* A buffer of so many bytes, filled with what must stay where nothing is written. `wanted` begins as the same. */
image_t* new_image(call_t* call, size_t bytes);
void check_call(player_t* player, call_t* call, const MPI_Status* status);
void end_call(call_t* call);
void add_pending(player_t* player, call_t* call);
/* Between two operations: completes all where much is pending. Within one it could wait for what it has still to
 * post. */
void make_room(player_t* player, dice_t dice);
/* Completes some of what is pending, or all, by MPI_Wait*, MPI_Test* in an order of this rank's own. */
void complete(player_t* player, dice_t dice, bool all);

/* Operations. */
void play_collective(scene_t* scene);
void play_reduction(scene_t* scene);
void play_neighbours(scene_t* scene);
void play_message(scene_t* scene);
void play_messages(scene_t* scene);
void play_fan_in(scene_t* scene);
void play_exchange(scene_t* scene);
void play_cancelled(scene_t* scene);
void play_communicator(scene_t* scene);
void play_brief_communicators(scene_t* scene);
void play_groups(scene_t* scene);
void play_window(scene_t* scene);
void play_file(scene_t* scene);
void play_region(scene_t* scene);
void free_slots(player_t* player);
void prepare_operators(void);
void free_operators(void);

/* How a collective is called. */
typedef enum how { BLOCKING, NONBLOCKING, PERSISTENT, LARGE } how_t;
how_t draw_how(scene_t* scene, bool has_persistent, bool has_large);
/* The collective has been called: what is blocking is checked, what is not becomes pending. */
void called(scene_t* scene, call_t* call, how_t how, int error);
