/* SPDX-License-Identifier: BSD-3-Clause */
// Named regions, nested, of all ranks and of one; and with "wrong", calls in the wrong order. Prints for each region
// what it took by the program's own clock, inside and outside of the calls.
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
  }
  MPI_Finalize();
  printf("after: %d, failures %d\n", (int)steelyard_region_begin("late"), failures);
  return failures;
}
