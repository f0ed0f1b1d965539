// Ranks of unequal load that limit their threads themselves, in one of the ways that programs do. Rank 0 has most of the
// work, so more threads would help it. An iteration sleeps: a thread stands for a core that need not be here.
//
//   constrained HOW [STEPS]
//     free          not at all: this is what the others are compared with
//     clause        num_threads(2) on the region
//     clause-max    num_threads(omp_get_max_threads()) on the region
//     set           omp_set_num_threads(2) at start
//     set-late      omp_set_num_threads(2) after an eighth of the steps
//     set-max       omp_set_num_threads(omp_get_max_threads()) at start
//     restore       omp_set_num_threads(1) at start, and back to the earlier omp_get_max_threads() before the steps
//     max           data of omp_get_max_threads() threads, made at start
//     once          data of omp_get_num_threads() threads, made in a region that runs once
//     lazy          the same, made in the first execution of the region that works
//     set-more      asks omp_get_max_threads(), then calls omp_set_num_threads() with one more, then makes data of
//                   omp_get_max_threads() threads
#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { threads_by_clause = 2, most_ranks = 64, iteration_ns = 1000000 };

static int size = 1 << 20;  // number of threads that there is data for
static int team;            // the largest seen; asking for it would be one more way to limit it
static long strays;         // iterations that were run by a thread without data

static void iteration(void) {
  const int thread = omp_get_thread_num();
  const struct timespec t = {0, iteration_ns};
  nanosleep(&t, NULL);
#pragma omp critical
  {
    if (thread >= team) team = thread + 1;
    if (thread >= size) ++strays;
  }
}

static void step(int iterations) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < iterations; ++i) iteration();
}

static void step_of(int iterations, int threads) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int i = 0; i < iterations; ++i) iteration();
}

static void lazy_step(int iterations, bool first) {
#pragma omp parallel
  {
#pragma omp single
    if (first) size = omp_get_num_threads();
#pragma omp for schedule(dynamic)
    for (int i = 0; i < iterations; ++i) iteration();
  }
}

static void make_data_once(void) {
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
}

static void print_all(const char* what, int mine, int rank, int ranks) {
  int all[most_ranks];
  MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("constrained: %s", what);
  for (int r = 0; r < ranks; ++r) printf(" %d", all[r]);
  printf("\n");
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "free";
  const int steps = argc > 2 ? atoi(argv[2]) : 40;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);

  if (strcmp(how, "set") == 0) omp_set_num_threads(threads_by_clause);
  if (strcmp(how, "set-max") == 0) omp_set_num_threads(omp_get_max_threads());
  if (strcmp(how, "set-more") == 0) omp_set_num_threads(omp_get_max_threads() + 1);
  if (strcmp(how, "restore") == 0) {
    const int earlier = omp_get_max_threads();
    omp_set_num_threads(1);
    step(4);
    omp_set_num_threads(earlier);
  }
  if (strcmp(how, "max") == 0 || strcmp(how, "set-more") == 0) size = omp_get_max_threads();
  if (strcmp(how, "once") == 0) make_data_once();

  const int iterations = rank == 0 ? 32 : 6;
  for (int s = 0; s < steps; ++s) {
    if (strcmp(how, "set-late") == 0 && s == steps / 8) {
      omp_set_num_threads(threads_by_clause);
      team = 0;
    }
    if (strcmp(how, "clause") == 0) {
      step_of(iterations, threads_by_clause);
    } else if (strcmp(how, "clause-max") == 0) {
      step_of(iterations, omp_get_max_threads());
    } else if (strcmp(how, "lazy") == 0) {
      lazy_step(iterations, s == 0);
    } else {
      step(iterations);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  print_all("teams", team, rank, ranks);
  print_all("sizes", size, rank, ranks);
  long all_strays = 0;
  MPI_Reduce(&strays, &all_strays, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("constrained: strays %ld\n", all_strays);
  MPI_Finalize();
  return 0;
}
