/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_cores_test moves|stays: steelyard/cores.h under MPI. "moves": two ranks with two cores each, under
 * `steelyard run`. "stays": no core can move; the calls succeed and say so. Prints "as documented" at each rank.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "steelyard/cores.h"

static int rank;
static int told[64], told_count, calls;

static void note(const int* cpus, int count, void* data) {
  int nested = 0;
  memcpy(told, cpus, (size_t)count * sizeof(*cpus));
  told_count = count;
  ++*(int*)data;
  if (steelyard_cores_acquire(1, &nested) != STEELYARD_ERROR_INVALID_STATE) told_count = -1;
}

static void check(int line, int holds) {
  if (holds) return;
  fprintf(stderr, "rank %d: line %d: %s\n", rank, line, steelyard_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(condition) check(__LINE__, condition)

static int lend(int cores) {
  int lent = -1;
  CHECK(steelyard_cores_lend(cores, &lent) == STEELYARD_SUCCESS);
  return lent;
}
static int acquire(int cores) {
  int acquired = -1;
  CHECK(steelyard_cores_acquire(cores, &acquired) == STEELYARD_SUCCESS);
  return acquired;
}
static int reclaim(void) {
  int missing = -1;
  CHECK(steelyard_cores_reclaim(&missing) == STEELYARD_SUCCESS);
  return missing;
}
static int get(int* cpus) {
  int count = -1;
  CHECK(steelyard_cores_get(cpus, cpus == NULL ? 0 : 64, &count) == STEELYARD_SUCCESS);
  return count;
}
static void poll_cores(void) { CHECK(steelyard_cores_poll() == STEELYARD_SUCCESS); }

/* No call of MPI in between, which would return acquired cores. */
static void wait_for(atomic_int* stage, int value) {
  while (atomic_load(stage) < value) sched_yield();
}

static void lent_by_call(atomic_int* stage) {
  int mine[64], now[64];
  CHECK(get(mine) == 2);
  if (rank == 1) {
    CHECK(lend(5) == 1); /* a rank keeps one */
    CHECK(lend(1) == 0);
    CHECK(get(now) == 1 && now[0] == mine[0]);
    atomic_store(stage, 1 + mine[1]);
    wait_for(stage, 100);
    CHECK(reclaim() == 1);
    poll_cores();
    CHECK(get(now) == 1 && calls == 0);
    atomic_store(stage, 101);
    wait_for(stage, 102);
    poll_cores();
    CHECK(calls == 1 && told_count == 2 && told[0] == mine[0] && told[1] == mine[1]);
  } else {
    wait_for(stage, 1);
    CHECK(acquire(0) == 0);
    CHECK(acquire(5) == 1);
    CHECK(get(now) == 3 && now[0] == mine[0] && now[1] == mine[1] && now[2] == atomic_load(stage) - 1);
    poll_cores();
    CHECK(calls == 0); /* get() has told of it */
    CHECK(steelyard_cores_release() == STEELYARD_SUCCESS);
    CHECK(acquire(1) == 1); /* it is still lent */
    atomic_store(stage, 100);
    wait_for(stage, 101);
    CHECK(get(now) == 3);
    poll_cores();
    CHECK(calls == 1 && told_count == 2 && told[1] == mine[1]);
    CHECK(get(now) == 2 && acquire(1) == 0);
    atomic_store(stage, 102);
  }
}

static void returned_by_mpi(void) {
  int cpus[64];
  calls = 0;
  if (rank == 1) CHECK(lend(1) == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(acquire(1) == 1 && get(cpus) == 3);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    poll_cores();
    CHECK(calls == 1 && told_count == 2);
  } else {
    CHECK(get(cpus) == 1 && reclaim() == 0 && get(cpus) == 2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void lent_by_waiting(void) {
  int cpus[64], acquired = 0;
  if (rank == 0) {
    while (acquired < 2) {
      acquired += acquire(2 - acquired);
      sched_yield();
    }
    CHECK(get(cpus) == 4);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  while (get(cpus) != 2) poll_cores();
}

static void* elsewhere(void* status) {
  *(steelyard_status_t*)status = steelyard_cores_poll();
  return NULL;
}

int main(int argc, char** argv) {
  const int moves = argc == 2 && strcmp(argv[1], "moves") == 0;
  int cpus[64];
  CHECK(steelyard_cores_init(-1) == STEELYARD_ERROR_INVALID_ARGUMENT);
  CHECK(steelyard_cores_init(0) == STEELYARD_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(steelyard_cores_movable() == moves);
  CHECK(steelyard_cores_lend(-1, NULL) == STEELYARD_ERROR_INVALID_ARGUMENT);
  CHECK(steelyard_cores_acquire(-1, NULL) == STEELYARD_ERROR_INVALID_ARGUMENT);
  CHECK(steelyard_cores_get(cpus, 64, NULL) == STEELYARD_ERROR_INVALID_ARGUMENT);
  CHECK(steelyard_cores_on_change(note, &calls) == STEELYARD_SUCCESS);
  if (moves) {
    MPI_Win window;
    pthread_t thread;
    steelyard_status_t status = STEELYARD_SUCCESS;
    MPI_Aint size;
    int unit;
    void* mine;
    atomic_int* stage;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(atomic_int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &stage);
    if (rank == 0) atomic_store(stage, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    lent_by_call(stage);
    MPI_Win_free(&window);
    returned_by_mpi();
    lent_by_waiting();
    pthread_create(&thread, NULL, elsewhere, &status);
    pthread_join(thread, NULL);
    CHECK(status == STEELYARD_ERROR_INVALID_STATE && steelyard_cores_init(1) == STEELYARD_ERROR_INVALID_STATE);
  } else {
    CHECK(strlen(steelyard_message()) > 0);
    CHECK(get(cpus) >= 1 && lend(1) == 0 && acquire(1) == 0 && reclaim() == 0);
    poll_cores();
    CHECK(steelyard_cores_release() == STEELYARD_SUCCESS && calls == 0);
  }
  MPI_Finalize();
  printf("as documented\n");
  return 0;
}
