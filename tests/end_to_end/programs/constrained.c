/* SPDX-License-Identifier: BSD-3-Clause */
// Ranks of unequal load that limit their threads themselves, or rely on their number, in one of the ways that programs
// do. Rank 0 has most of the work, so more threads would help it. An iteration sleeps: a thread stands for a core that
// need not be here.
//
//   constrained HOW [STEPS]
//     free          not at all: this is what the others are compared with
//     static        not at all; its loop is static, for which gcc's code divides the iterations by its thread's number
//     plugins       as static; in each step, it opens and closes a library, as a program does that has plug-ins
//     clause        num_threads(3) on the region
//     clause-one    num_threads(1) on the region, which is what gcc makes of if(0), too
//     clause-max    num_threads(omp_get_max_threads()) on the region
//     set           omp_set_num_threads(3) at start
//     set-late      omp_set_num_threads(3) after an eighth of the steps
//     set-max       omp_set_num_threads(omp_get_max_threads()) at start
//     restore       omp_set_num_threads(1) at start, and back to the earlier omp_get_max_threads() before the steps
//     set-more      asks omp_get_max_threads(), then calls omp_set_num_threads() with one more, then makes data of
//                   omp_get_max_threads() threads
//     max           data of omp_get_max_threads() threads, made at start
//     divide        each thread takes its part of the iterations, by its number and by omp_get_max_threads() at start
//     once          data of omp_get_num_threads() threads, made in a region that runs once
//     lazy          the same, made in the first execution of the region that works
//     tasks         data of omp_get_max_threads() threads, for tasks that other threads than the first run at the end
//                   of the region
//     nested        not at all; a region inside of the region, which has one thread while the outer one has several
//     mixed         as divide, and a longer region besides that asks for nothing
//     causes        num_threads(1) for less than a fourth of the time, as divide for a third, and free for the rest
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { threads_by_clause = 3, most_ranks = 64, most_threads = 256, iteration_ns = 1000000 };

static int size = 1 << 20;            // number of threads that there is data for
static bool has_data;                 // so threads ask for their number, to find their own
static int seen[most_threads], team;  // threads of the present region
static int largest_team;
static long strays;  // iterations that were run by a thread without data
static long done;    // iterations

static void begin_region(void) { team = 0; }

static void end_region(void) {
  if (team > largest_team) largest_team = team;
}

// Threads are identified without OpenMP: a query of the thread ID is one more way to rely on the thread count.
static void iteration(void) {
  const struct timespec t = {0, iteration_ns};
  nanosleep(&t, NULL);
#pragma omp critical
  {
    const int self = gettid();
    int i = 0;
    while (i < team && seen[i] != self) ++i;
    if (i == team && team < most_threads) seen[team++] = self;
    if (has_data && omp_get_thread_num() >= size) ++strays;
#pragma omp atomic
    ++done;
  }
}

static void step(int iterations) {
  begin_region();
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < iterations; ++i) iteration();
  end_region();
}

static void static_step(int iterations) {
  begin_region();
#pragma omp parallel for schedule(static)
  for (int i = 0; i < iterations; ++i) iteration();
  end_region();
}

static void step_of(int iterations, int threads) {
  begin_region();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int i = 0; i < iterations; ++i) iteration();
  end_region();
}

static void divided_step(int iterations) {
  begin_region();
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    for (int i = iterations * thread / size; i < iterations * (thread + 1) / size; ++i) iteration();
  }
  end_region();
}

static void lazy_step(int iterations, bool first) {
  begin_region();
#pragma omp parallel
  {
#pragma omp single
    if (first) {
      size = omp_get_num_threads();
      has_data = true;
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < iterations; ++i) iteration();
  }
  end_region();
}

static void late_step(int iterations, bool asks) {
  begin_region();
#pragma omp parallel
  {
    if (asks && omp_get_thread_num() >= size) {
#pragma omp atomic
      ++strays;
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < iterations; ++i) iteration();
  }
  end_region();
}

// The first thread runs none of the tasks itself, unless no other thread begins one: a thread of LLVM's runtime that
// falls asleep while the first task is made may sleep until the first thread has reached the end of the region.
static void step_of_tasks(int iterations) {
  begin_region();
  const long all = done + iterations;
#pragma omp parallel
  if (gettid() == getpid()) {  // `master` would ask for the thread's number
    for (int i = 0; i < iterations; ++i) {
#pragma omp task
      iteration();
    }
    const int most_polls = 100 * iterations;
    long now = 0;
    for (int poll = 0; now < all && poll < most_polls; ++poll) {
      const struct timespec t = {0, iteration_ns / 10};
      nanosleep(&t, NULL);
#pragma omp atomic read
      now = done;
    }
  }
  end_region();
}

static void nested_step(int iterations) {
  begin_region();
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < iterations; ++i) {
    iteration();
    int inner = 0;
#pragma omp parallel reduction(+ : inner)
    inner = 1;
    if (inner > 1) {
#pragma omp atomic
      ++strays;
    }
  }
  end_region();
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
  const bool mixed = strcmp(how, "mixed") == 0;
  const bool causes = strcmp(how, "causes") == 0;
  const bool divides = mixed || causes || strcmp(how, "divide") == 0;

  if (strcmp(how, "set") == 0) omp_set_num_threads(threads_by_clause);
  if (strcmp(how, "set-max") == 0) omp_set_num_threads(omp_get_max_threads());
  if (strcmp(how, "set-more") == 0) omp_set_num_threads(omp_get_max_threads() + 1);
  if (strcmp(how, "restore") == 0) {
    const int earlier = omp_get_max_threads();
    omp_set_num_threads(1);
    step(4);
    omp_set_num_threads(earlier);
  }
  if (strcmp(how, "max") == 0 || strcmp(how, "tasks") == 0 || strcmp(how, "set-more") == 0) {
    size = omp_get_max_threads();
    has_data = true;
  }
  if (divides || strcmp(how, "late") == 0) size = omp_get_max_threads();
  if (strcmp(how, "once") == 0) {
    make_data_once();
    has_data = true;
  }

  const int iterations = rank == 0 ? 32 : 6;
  done = 0;
  for (int s = 0; s < steps; ++s) {
    if (strcmp(how, "set-late") == 0 && s == steps / 8) {
      omp_set_num_threads(threads_by_clause);
      largest_team = 0;
    }
    if (strcmp(how, "clause") == 0) {
      step_of(iterations, threads_by_clause);
    } else if (strcmp(how, "clause-one") == 0) {
      step_of(iterations, 1);
    } else if (strcmp(how, "clause-max") == 0) {
      step_of(iterations, omp_get_max_threads());
    } else if (strcmp(how, "lazy") == 0) {
      lazy_step(iterations, s == 0);
    } else if (strcmp(how, "late") == 0) {
      late_step(iterations, s > steps / 2);
    } else if (strcmp(how, "tasks") == 0) {
      step_of_tasks(iterations);
    } else if (strcmp(how, "static") == 0) {
      static_step(iterations);
    } else if (strcmp(how, "plugins") == 0) {
      void* const library = dlopen("libanl.so.1", RTLD_NOW);  // which nothing else has loaded
      if (library == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
      static_step(iterations);
      dlclose(library);
    } else if (strcmp(how, "nested") == 0) {
      nested_step(iterations);
    } else if (causes) {
      const int by_thread_id = iterations * 3 / 8, by_one_thread = iterations / 8;
      step_of(by_one_thread, 1);
      divided_step(by_thread_id);
      step(iterations - by_thread_id - by_one_thread);
    } else if (divides) {
      divided_step(mixed ? 2 : iterations);
      if (mixed) step(iterations - 2);
    } else {
      step(iterations);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  print_all("teams", largest_team, rank, ranks);
  print_all("sizes", size, rank, ranks);
  const long mine[2] = {strays, (long)steps * iterations - done};
  long all[2] = {0, 0};
  MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("constrained: strays %ld\nconstrained: lost %ld\n", all[0], all[1]);
  const int told = omp_get_max_threads();
  MPI_Finalize();
  if (rank != 0) return 0;
  int after = 0;
#pragma omp parallel
#pragma omp single
  after = omp_get_num_threads();
  printf("constrained: after %d %d\n", told, after);
  return 0;
}
