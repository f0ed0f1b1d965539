/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_tasks_waits_test late|finalize|endless|free|dies RANKS_PER_NODE RANK: the rank is late to a run, or calls
 * MPI_Finalize and never comes. All others must name it, on all nodes. In the modes endless (MPI_Finalize), free (it
 * frees the pool) and dies (it ends in a task), the others have tasks without end until they are told. Ranks are
 * numbered in the opposite order in the pool, so that names are those of MPI_COMM_WORLD. Ends with status 0 and prints
 * "named" at each of the others.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "steelyard/tasks.h"

static int endless, dies;
static int work(steelyard_task_t* task, void* context) {
  (void)context;
  usleep(1000);
  if (dies) _exit(0); /* not by a signal: a launcher may be told to go on without the rank */
  if (endless && steelyard_task_spawn(task, 0, 0, NULL, 0) != STEELYARD_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  return 0;
}
static void count(const steelyard_task_result_t* result, void* user) {
  if (result->message == NULL) ++*(int*)user;
}
static void fail(int rank, const char* what, const char* seen) {
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, seen);
  fflush(stderr); /* it may be a file */
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int says(const char* expected, const char* path) {
  char said[8192] = "";
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
  fclose(file);
  return strstr(said, expected) != NULL;
}

/* Waits until all other ranks have said it, for two minutes at most. */
static int others_say(const char* expected, const char* folder, int rank, int size) {
  char path[64];
  int other, tries = 0;
  for (other = 0; other < size; ++other) {
    snprintf(path, sizeof(path), "%s/%d", folder, other);
    while (other != rank && !says(expected, path)) {
      if (++tries > 1200) return 0;
      usleep(100000);
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  const steelyard_task_type_t type = {"work", work, NULL, 1};
  steelyard_task_pool_t* pool;
  MPI_Comm reversed;
  char expected[200];
  int rank, late, run, results = 0, i;
  const int tasks = 3;
  if (argc != 4) return 2;
  late = atoi(argv[3]);
  options.ranks_per_node = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  if (steelyard_task_pool_create(reversed, &type, 1, &options, &pool) != STEELYARD_SUCCESS)
    fail(rank, "no pool", steelyard_message());
  for (run = 0; run < 2; ++run) {
    for (i = 0; i < tasks; ++i) steelyard_task_pool_spawn(pool, 0, 0, NULL, 0);
    if (run == 0 && steelyard_task_pool_run(pool, count, &results) != STEELYARD_SUCCESS)
      fail(rank, "the first run failed", steelyard_message());
  }
  if (results != tasks) fail(rank, "results are lost", "");
  MPI_Barrier(MPI_COMM_WORLD);
  endless = strcmp(argv[1], "finalize") != 0 && strcmp(argv[1], "late") != 0;
  if (strcmp(argv[1], "dies") == 0) {
    snprintf(expected, sizeof(expected), "rank %d has ended while others use the task pool", late);
    dies = rank == late;
    if (steelyard_task_pool_run(pool, count, &results) != STEELYARD_ERROR_PEER ||
        !strstr(steelyard_message(), expected))
      fail(rank, "the run did not name the rank", steelyard_message());
    if (steelyard_task_pool_run(pool, count, &results) != STEELYARD_ERROR_PEER)
      fail(rank, "the pool goes on", steelyard_message());
    steelyard_task_pool_free(pool);
    printf("named by %d\n", rank);
    fflush(stdout);
    _exit(0); /* MPI_Finalize would wait for the dead rank */
  } else if (strcmp(argv[1], "free") == 0 && rank == late) {
    if (steelyard_task_pool_free(pool) != STEELYARD_ERROR_INVALID_STATE)
      fail(rank, "the pool was freed in the midst of a run", steelyard_message());
  } else if (strcmp(argv[1], "late") != 0) {
    snprintf(expected, sizeof(expected), "rank %d has %s the task pool", late,
             strcmp(argv[1], "free") == 0 ? "freed" : "called MPI_Finalize and not freed");
    if (rank != late) {
      if (steelyard_task_pool_run(pool, count, &results) != STEELYARD_ERROR_PEER ||
          !strstr(steelyard_message(), expected))
        fail(rank, "the run did not name the rank", steelyard_message());
      printf("named\n");
      steelyard_task_pool_free(pool);
    }
  } else {
    char folder[] = "/tmp/steelyard-late-XXXXXX", own[64];
    const int console = dup(2);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(expected, sizeof(expected), "waiting for rank %d for 10 s: it has not called run", late);
    if (rank == 0 && mkdtemp(folder) == NULL) fail(rank, "no temporary folder", folder);
    MPI_Bcast(folder, sizeof(folder), MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(own, sizeof(own), "%s/%d", folder, rank);
    if (freopen(own, "w", stderr) == NULL) fail(rank, "no temporary file", own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late && !others_say(expected, folder, rank, size)) {
      dup2(console, 2);
      fail(rank, "a wait did not name the rank", expected);
    }
    if (steelyard_task_pool_run(pool, count, &results) != STEELYARD_SUCCESS) {
      dup2(console, 2);
      fail(rank, "the run failed", steelyard_message());
    }
    dup2(console, 2);
    if (results != 2 * tasks) fail(rank, "results are lost", "");
    if (rank == late && says("waiting", own)) fail(rank, "nobody was waited for here", own);
    if (rank != late) printf("named\n");
    unlink(own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) rmdir(folder);
    if (steelyard_task_pool_free(pool) != STEELYARD_SUCCESS) fail(rank, "the pool was not freed", steelyard_message());
  }
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
