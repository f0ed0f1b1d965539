/* SPDX-License-Identifier: BSD-3-Clause */
// Named regions, nested, of all ranks and of one; with "wrong", calls in the wrong order; with "pause", a pause inside
// of a region. With "pause FILE", rank 0 makes the file in the pause, which lasts until the file is gone. Prints for
// each region what it took by the program's own clock, inside and outside of the calls.
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "steelyard/regions.h"

enum { kSteps = 5 };

static int rank, failures;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void compute(int ms) {
  for (const long long end = now() + ms * 1000000LL; now() < end;) continue;
}

// A region that shares out nothing would keep its threads.
static void compute_in_each_thread(int ms) {
  const int threads = omp_get_max_threads();
#pragma omp parallel for schedule(dynamic)
  for (int thread = 0; thread < threads; ++thread) compute(ms);
}

typedef struct {
  const char* name;
  long long outside, inside, since_outside, since_inside;
} region_t;

static void begin(region_t* region) {
  region->since_outside = now();
  failures += steelyard_region_begin(region->name) > STEELYARD_INACTIVE;
  region->since_inside = now();
}

static void end(region_t* region) {
  const long long inside = now();
  failures += steelyard_region_end(region->name) > STEELYARD_INACTIVE;
  region->inside += inside - region->since_inside;
  region->outside += now() - region->since_outside;
}

static void compute_until_gone(const char* file) {
  if (rank == 0) fclose(fopen(file, "w"));
  for (int there = 1; there != 0;) {
    compute_in_each_thread(1);
    there = access(file, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

static void paused(const char* file) {
  region_t outer = {.name = "outer"}, pause = {.name = "pause"};
  begin(&outer);
  compute(5);
  pause.since_outside = now();
  failures += steelyard_pause() != STEELYARD_SUCCESS;
  pause.since_inside = now();
  steelyard_region_begin("none of it");
  if (rank == 0) compute(30);
  compute_in_each_thread(2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (file != NULL) compute_until_gone(file);
  steelyard_region_end("none of it");
  failures += steelyard_pause() != STEELYARD_ERROR_INVALID_STATE;
  pause.inside = now() - pause.since_inside;
  failures += steelyard_resume() != STEELYARD_SUCCESS;
  pause.outside = now() - pause.since_outside;
  failures += steelyard_resume() != STEELYARD_ERROR_INVALID_STATE;
  compute_in_each_thread(3);
  const long long arrived = now();
  MPI_Barrier(MPI_COMM_WORLD);
  const long long waited = now() - arrived;
  end(&outer);
  printf("rank %d outer inside %lld outside %lld pause inside %lld outside %lld barrier %lld\n", rank, outer.inside,
         outer.outside, pause.inside, pause.outside, waited);
}

static void show(const char* call, steelyard_status_t status) {
  if (rank == 0) printf("%s: %s: %s\n", call, steelyard_status_name(status), steelyard_message());
}

static void wrong_order(void) {
  show("end none", steelyard_region_end("outer"));
  steelyard_region_begin("outer");
  steelyard_region_begin("inner");
  show("end outer", steelyard_region_end("outer"));
  show("begin outer", steelyard_region_begin("outer"));
#pragma omp parallel num_threads(2)
#pragma omp single
  show("in parallel", steelyard_region_end("inner"));
  steelyard_region_end("inner");
}

int main(int argc, char** argv) {
  region_t setup = {.name = "setup"}, solve = {.name = "solve"}, wait = {.name = "wait"}, output = {.name = "output"};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "wrong") == 0) {
    wrong_order();
  } else if (argc > 1 && strcmp(argv[1], "pause") == 0) {
    paused(argc > 2 ? argv[2] : NULL);
  } else {
    begin(&setup);
    if (rank == 0) compute(20);
    MPI_Barrier(MPI_COMM_WORLD);
    end(&setup);
    for (int step = 0; step < kSteps; ++step) {
      begin(&solve);
#pragma omp parallel
      compute(rank == 0 ? 4 : 2);
      begin(&wait);
      MPI_Barrier(MPI_COMM_WORLD);
      end(&wait);
      end(&solve);
    }
    if (rank == 0) {
      begin(&output);
      compute(5);
      end(&output);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const region_t* regions[] = {&setup, &solve, &wait, &output};
    for (int i = 0; i < 4; ++i)
      printf("rank %d %s inside %lld outside %lld\n", rank, regions[i]->name, regions[i]->inside, regions[i]->outside);
    steelyard_efficiencies_t e;
    failures += steelyard_get_efficiencies(&e) > STEELYARD_INACTIVE;
    printf("rank %d so far %d ranks seconds %.9f parallel %.6f mpi %.6f load_balance %.6f openmp %.6f\n", rank, e.ranks,
           e.seconds, e.parallel, e.mpi, e.load_balance, e.openmp);
  }
  MPI_Finalize();
  printf("after: %d, failures %d\n", (int)steelyard_region_begin("late"), failures);
  return failures;
}
