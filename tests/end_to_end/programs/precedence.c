// SPDX-License-Identifier: BSD-3-Clause
// Steps in which two capabilities meet. In each, rank 0 has eight loops where the others have one, so that cores of the
// others help it; then comes what the first argument names; the second one is the number of steps:
//
//   phase      all ranks enter a phase for rank 0 alone
//   pool       rank 0 has one long task, and the others wait for it in the pool
//   barrier    the same wait in MPI
//   broadcast  the last rank has the eight loops, and the others wait for it in a broadcast
//
// Prints the largest team of the loop, and the smallest and largest one of the phase, of all ranks. Threads sleep in
// place of computing.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <steelyard/phases.h>
#include <steelyard/tasks.h>
#include <string.h>
#include <time.h>

enum { iterations = 6, regions = 8 };
static int rank, ranks;

static void check(steelyard_status_t status) {
  if (status == STEELYARD_SUCCESS) return;
  fprintf(stderr, "precedence: %s\n", steelyard_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void work(long ms) {
  const struct timespec length = {0, ms * 1000000};
  nanosleep(&length, NULL);
}

// Without queries of the thread ID: the team may have any size.
static int team(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  return threads;
}

// Each iteration runs once. Returns the threads that had one.
static int loop(void) {
  int done[iterations] = {0}, threads = 0;
#pragma omp parallel reduction(+ : threads)
  {
    threads += 1;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < iterations; ++i) {
      work(1);
      ++done[i];
    }
  }
  for (int i = 0; i < iterations; ++i) {
    if (done[i] != 1) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return threads;
}

static int wait_long(steelyard_task_t* task, void* context) {
  (void)task, (void)context;
  work(10);
  return 0;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "phase";
  const int steps = argc > 2 ? atoi(argv[2]) : 30;
  int provided, chosen, largest = 0, phase[2] = {1000, 0}, value = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  steelyard_node_t* node = NULL;
  steelyard_phase_t* wide = NULL;
  steelyard_task_pool_t* pool = NULL;
  const steelyard_task_type_t types[] = {{"wait", wait_long, NULL, 0}};
  if (strcmp(what, "phase") == 0) {
    check(steelyard_node_create(MPI_COMM_WORLD, &node));
    check(steelyard_phase_create(node, STEELYARD_MACHINE, 1, &wide));
  }
  if (strcmp(what, "pool") == 0) check(steelyard_task_pool_create(MPI_COMM_WORLD, types, 1, NULL, &pool));

  for (int step = 0; step < steps; ++step) {
    const int heavy = strcmp(what, "broadcast") == 0 ? ranks - 1 : 0;
    if (pool == NULL && strcmp(what, "barrier") != 0) {
      for (int region = 0; region < (rank == heavy ? regions : 1); ++region) {
        const int threads = loop();
        if (threads > largest) largest = threads;
      }
    }
    if (wide != NULL) {
      MPI_Barrier(MPI_COMM_WORLD);
      check(steelyard_phase_enter(wide, &chosen));
      if (chosen) {
        const int threads = team();
        work(5);
        if (threads < phase[0]) phase[0] = threads;
        if (threads > phase[1]) phase[1] = threads;
      }
      check(steelyard_phase_leave(wide));
    } else if (pool != NULL) {
      if (rank == 0) check(steelyard_task_pool_spawn(pool, 0, 0, NULL, 0));
      check(steelyard_task_pool_run(pool, NULL, NULL));
    } else if (strcmp(what, "broadcast") == 0) {
      MPI_Bcast(&value, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    } else {
      if (rank == 0) work(10);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }

  int largest_of_all, phase_of_all[2];
  MPI_Reduce(&largest, &largest_of_all, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&phase[0], &phase_of_all[0], 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&phase[1], &phase_of_all[1], 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("loop %d phase %d %d\n", largest_of_all, phase_of_all[0], phase_of_all[1]);
  if (pool != NULL) check(steelyard_task_pool_free(pool));
  if (wide != NULL) {
    steelyard_phase_free(wide);
    steelyard_node_free(node);
  }
  MPI_Finalize();
  return 0;
}
