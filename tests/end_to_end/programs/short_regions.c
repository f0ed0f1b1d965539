/* SPDX-License-Identifier: BSD-3-Clause */
// Regions of a few us: loops, queries, nested regions, clauses, MPI calls. Some executions of the plain loop take long.
// Ends with an error where a region is not as OpenMP says. Usage: short_regions STEPS REGIONS_A_STEP [THREADS], which
// are set by omp_set_num_threads().
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 500 };
static double values[LENGTH];
static int max_threads;

static void expect(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "short_regions: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void plain_loop(int repeats) {
#pragma omp parallel for
  for (int i = 0; i < LENGTH; ++i) {
    double x = i;
    for (int r = 0; r < repeats; ++r) x = 0.5 * x + 0.5 * i;
    values[i] += x;
  }
}

static void loops_in_a_region(void) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 7)
    for (int i = 0; i < LENGTH; ++i) values[i] += 1;
#pragma omp barrier
#pragma omp for schedule(guided)
    for (int i = 0; i < LENGTH; ++i) values[i] -= 1;
#pragma omp single
    values[0] += 1;
  }
}

static void queries(void) {
#pragma omp parallel
  {
    expect(omp_get_num_threads() == max_threads, "a team is not as large as OMP_NUM_THREADS says");
    expect(omp_get_thread_num() < max_threads, "a thread number is too high");
    expect(omp_in_parallel() == (max_threads > 1), "omp_in_parallel() is wrong");
    expect(omp_get_level() == 1, "omp_get_level() is wrong");
  }
}

static void nested(void) {
  int inner = 0;
#pragma omp parallel reduction(+ : inner)
  {
#pragma omp parallel num_threads(2) reduction(+ : inner)
    inner += omp_get_num_threads();
  }
  expect(inner == (max_threads == 1 ? 4 : max_threads), "the inner teams are wrong");
}

static void set_inside(void) {
#pragma omp parallel
  omp_set_num_threads(3);  // holds for regions of this thread inside of this one
  expect(omp_get_max_threads() == max_threads, "omp_set_num_threads() in a region has changed the program's count");
}

static void by_clause(void) {
  int threads = 0;
#pragma omp parallel num_threads(1)
  threads = omp_get_num_threads();
  expect(threads == 1, "num_threads(1) has not one thread");
}

static void with_message(int rank, int ranks) {
#pragma omp parallel
#pragma omp master
  {
    int from = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(from == (rank + ranks - 1) % ranks, "a message came from another rank");
  }
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) {
    fprintf(stderr, "usage: short_regions STEPS REGIONS_A_STEP [THREADS]\n");
    MPI_Finalize();
    return 2;
  }
  const int steps = atoi(argv[1]), regions = atoi(argv[2]);
  if (argc > 3) omp_set_num_threads(atoi(argv[3]));
  max_threads = omp_get_max_threads();
  double in_regions = 0;
  for (int step = 0; step < steps; ++step) {
    const double begin = MPI_Wtime();
    for (int region = 1; region < regions; ++region) plain_loop(1);
    plain_loop(step % 10 == 0 ? 2000 : 1);
    in_regions += MPI_Wtime() - begin;
    loops_in_a_region();
    queries();
    nested();
    set_inside();
    by_clause();
    with_message(rank, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  double sum = 0;
  for (int i = 0; i < LENGTH; ++i) sum += values[i];
  expect(sum == (double)steps * regions * (LENGTH * (LENGTH - 1) / 2) + steps, "the sum is wrong");
  printf("rank %d: %.6f s in plain loops\n", rank, in_regions);
  MPI_Finalize();
  return 0;
}
