/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz SEED OPERATIONS [--threads N] [--keep FROM-TO,...] [--openmp] [--quick] [--patience SECONDS] [--errors-return]
 * Plays the script of the seed; exits with 0 where all was as the standard says. Operations that are not kept are left
 * out. A rank that makes no progress for as long as its patience prints what it is doing and ends the job. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "player.h"

enum { THREADS = 4, RANGES = 512 };

typedef struct range {
  long from, to;
} range_t;

static struct {
  uint64_t seed;
  long operations;
  int threads, ranges, patience;
  range_t keep[RANGES];
  bool openmp, quick, errors_return;
} g_run = {.threads = 1, .patience = 60};
static player_t g_players[THREADS];
static volatile long g_at[THREADS], g_seen[THREADS];
static const char* volatile g_doing[THREADS];
static int g_rank;

uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

unsigned roll(dice_t* dice, unsigned below) {
  dice->state += 0x9e3779b97f4a7c15u;
  return (unsigned)((mixed(dice->state) >> 20) % below);
}

bool chance(dice_t* dice, unsigned percent) { return roll(dice, 100) < percent; }

dice_t dice_of(const scene_t* scene, int rank) {
  return (dice_t){mixed(scene->player->seed ^ ((uint64_t)scene->operation << 16) ^ (uint64_t)(rank + 2))};
}

void doing(const player_t* player, long operation, const char* what) {
  g_at[player->number] = operation + 1;
  g_doing[player->number] = what;
}

void doing_now(const player_t* player, const char* what) { g_doing[player->number] = what; }

void differs(player_t* player, long operation, const char* what, const char* how, long a, long b) {
  if (player->differences++ < 5)
    printf("differs: rank %d, player %d, operation %ld, %s: %s (%ld, %ld)\n", g_rank, player->number, operation, what,
           how, a, b);
}

void expect(const scene_t* scene, bool right, const char* what, long a, long b) {
  if (!right) differs(scene->player, scene->operation, what, "is wrong", a, b);
}

static void on_alarm(int number) {
  (void)number;
  bool goes_on = false;
  for (int i = 0; i < g_run.threads; ++i) {
    goes_on = goes_on || g_at[i] != g_seen[i];
    g_seen[i] = g_at[i];
  }
  alarm((unsigned)g_run.patience);
  if (goes_on) return;
  for (int i = 0; i < g_run.threads; ++i) {
    char line[200];
    const int length = snprintf(line, sizeof line, "hangs: rank %d, player %d, operation %ld, %s\n", g_rank, i,
                                g_at[i] - 1, g_doing[i] != NULL ? g_doing[i] : "at the start");
    if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(98);
  }
  sleep(2); /* so that the others say the same */
  _exit(99);
}

static bool is_kept(long operation) {
  for (int i = 0; i < g_run.ranges; ++i) {
    if (operation >= g_run.keep[i].from && operation <= g_run.keep[i].to) return true;
  }
  return g_run.ranges == 0;
}

static void spin(long ns) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < ns);
}

/* One rank or another is late. */
static void delay(scene_t* scene) {
  dice_t dice = dice_of(scene, -2); /* not the operation's own: ranks that are no members would draw others */
  const unsigned kind = roll(&dice, 1000), rank = roll(&dice, (unsigned)scene->slot->size);
  const long us = 1 + (long)roll(&dice, 300);
  if (!scene->player->delays || rank != (unsigned)scene->slot->rank) return;
  if (kind < 30)
    usleep((useconds_t)us);
  else if (kind < 50)
    spin(us * 1000);
  else if (kind < 52)
    usleep((useconds_t)us * 20);
}

static void complete_some(scene_t* scene) {
  const bool alike = chance(&scene->dice, 50);
  complete(scene->player, dice_of(scene, alike ? -1 : scene->slot->rank), false);
}

typedef void (*operation_t)(scene_t*);

/* Of 1000 kinds, `kind`. */
static operation_t operation_of(const scene_t* scene, unsigned kind) {
  const bool alone = scene->player->alone;
  if (kind < 15) return play_communicator;
  if (kind < 25) return play_brief_communicators;
  if (kind < 30 && alone) return play_groups; /* Open MPI's MPI_Intercomm_merge crashes beside another thread's calls */
  if (kind < 34 && alone) return play_window;
  if (kind < 36 && alone) return play_file;
  if (kind < 42) return play_fan_in;
  if (kind < 50) return play_cancelled;
  if (kind < 110) return complete_some;
  if (kind < 200) return play_message;
  if (kind < 240) return play_messages;
  if (kind < 300) return play_exchange;
  if (kind < 360 && g_run.openmp && alone) return play_region;
  if (kind < 520) return play_reduction;
  if (kind < 600 && scene->slot->has_neighbours) return play_neighbours;
  return play_collective;
}

static void play_operation(player_t* player, long operation) {
  scene_t scene = {.player = player, .operation = operation};
  scene.dice.state = mixed(player->seed + (uint64_t)operation * 0x632be59bd9b4e019u);
  const unsigned kind = roll(&scene.dice, 1000), where = roll(&scene.dice, 2 * SLOTS);
  scene.slot = &player->slots[where < SLOTS && player->slots[where].set ? where : 0];
  const operation_t operate = operation_of(&scene, kind);
  ++player->executed;
  doing(player, operation, "the beginning");
  make_room(player, dice_of(&scene, -3));
  /* Of a new communicator all ranks must know, members or not. */
  const bool is_member = scene.slot->comm != MPI_COMM_NULL;
  if (is_member) delay(&scene);
  if (is_member || operate == play_communicator) operate(&scene);
}

static void* play(void* argument) {
  player_t* player = argument;
  for (long operation = 0; operation < g_run.operations; ++operation) {
    if (is_kept(operation)) play_operation(player, operation);
  }
  complete(player, (dice_t){player->seed}, true);
  free_slots(player);
  doing(player, g_run.operations, "the end");
  return NULL;
}

static void read_ranges(const char* text) {
  while (*text != '\0' && g_run.ranges < RANGES) {
    char* end;
    range_t* range = &g_run.keep[g_run.ranges++];
    range->from = range->to = strtol(text, &end, 10);
    if (*end == '-') range->to = strtol(end + 1, &end, 10);
    text = *end == ',' ? end + 1 : end;
  }
}

static void read_arguments(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "fuzz SEED OPERATIONS [options]\n");
    exit(2);
  }
  g_run.seed = strtoull(argv[1], NULL, 10);
  g_run.operations = strtol(argv[2], NULL, 10);
  for (int i = 3; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--openmp") == 0)
      g_run.openmp = true;
    else if (strcmp(argv[i], "--quick") == 0)
      g_run.quick = true;
    else if (strcmp(argv[i], "--errors-return") == 0)
      g_run.errors_return = true;
    else if (strcmp(argv[i], "--threads") == 0)
      g_run.threads = atoi(value) < THREADS ? atoi(argv[++i]) : THREADS;
    else if (strcmp(argv[i], "--patience") == 0)
      g_run.patience = atoi(argv[++i]);
    else if (strcmp(argv[i], "--keep") == 0)
      read_ranges(argv[++i]);
  }
}

/* Open MPI loads its topologies with the first one, and crashes (without Steelyard, too) if two threads make that at
 * once. */
static void load_topologies(void) {
  const int ranks = 1, periodic = 0;
  MPI_Comm topology;
  MPI_Cart_create(MPI_COMM_SELF, 1, &ranks, &periodic, 0, &topology);
  MPI_Comm_free(&topology);
}

int main(int argc, char** argv) {
  int provided, size;
  read_arguments(argc, argv);
  MPI_Init_thread(&argc, &argv, g_run.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (g_run.threads > 1 && provided < MPI_THREAD_MULTIPLE) g_run.threads = 1;
  if (g_run.errors_return) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  setvbuf(stdout, NULL, _IOLBF, 0);
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  alarm((unsigned)g_run.patience);
  prepare_operators();
  for (int i = 0; i < g_run.threads; ++i) {
    player_t* player = &g_players[i];
    player->number = i;
    player->seed = mixed(g_run.seed * 8 + (uint64_t)i);
    player->alone = g_run.threads == 1;
    player->delays = !g_run.quick;
    slot_t* base = &player->slots[0];
    if (g_run.threads == 1 && g_run.seed % 2 == 0)
      base->comm = MPI_COMM_WORLD;
    else
      MPI_Comm_dup(MPI_COMM_WORLD, &base->comm);
    base->set = true;
    base->rank = g_rank;
    base->size = size;
  }
  if (g_run.threads > 1) load_topologies();
  pthread_t threads[THREADS];
  for (int i = 1; i < g_run.threads; ++i) pthread_create(&threads[i], NULL, play, &g_players[i]);
  play(&g_players[0]);
  for (int i = 1; i < g_run.threads; ++i) pthread_join(threads[i], NULL);
  long own[2] = {0, 0}, all[2] = {0, 0};
  for (int i = 0; i < g_run.threads; ++i) {
    own[0] += g_players[i].differences;
    own[1] += g_players[i].executed;
    if (g_players[i].slots[0].comm != MPI_COMM_WORLD) MPI_Comm_free(&g_players[i].slots[0].comm);
  }
  MPI_Reduce(&own[0], &all[0], 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&own[1], &all[1], 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  free_operators();
  if (g_rank == 0) printf("fuzz: %ld operations, %ld differences\n", all[1], all[0]);
  MPI_Finalize();
  return own[0] != 0;
}
