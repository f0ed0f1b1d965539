/* SPDX-License-Identifier: BSD-3-Clause */
// What the operations of a phase cost, beside QUO's in the same run, and what waiting beside a computing rank costs.
//   phases --cost=push|distribute|barrier|create [--quo=libquo.so]   --once: one batch instead of 15
//   phases --wait=alone|steelyard|quo|mpi [--quo=libquo.so]        the paper's table II
//   phases --creations=N                                           so many contexts, one after the other, and nothing
//                                                                  else
//   phases --mixed=PERCENT,... --threads=T [--under]               the paper's equation 1, with threads that sleep
// Prints the costs in nanoseconds, the mean over the ranks of the median over batches; or the seconds of the computing.
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <steelyard/phases.h>
#include <string.h>
#include <time.h>

enum { most_batches = 15, phases = 10, mixed_steps = 2, mixed_ms = 160 };
enum { package = 2, by_kind = 1 };  // QUO_OBJ_PACKAGE, QUO_BIND_PUSH_OBJ

static int rank, ranks;
static steelyard_node_t* node;

static struct {
  int (*create)(void**, MPI_Comm);
  int (*free)(void*);
  int (*push)(void*, int, int, int);
  int (*pop)(void*);
  int (*distribute)(void*, int, int, int*);
  int (*barrier)(void*);
  void* context;
} quo;

static void fail(const char* what) {
  fprintf(stderr, "phases: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fail(dlerror());
  return found;
}

static void load_quo(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) fail(dlerror());
  *(void**)&quo.create = find(library, "QUO_create");
  *(void**)&quo.free = find(library, "QUO_free");
  *(void**)&quo.push = find(library, "QUO_bind_push");
  *(void**)&quo.pop = find(library, "QUO_bind_pop");
  *(void**)&quo.distribute = find(library, "QUO_auto_distrib");
  *(void**)&quo.barrier = find(library, "QUO_barrier");
}

static void ours_push(void) {
  if (steelyard_binding_push_enclosing(node, STEELYARD_MACHINE, STEELYARD_THREADS_KEEP) || steelyard_binding_pop(node))
    fail(steelyard_message());
}
static void quo_push(void) {
  if (quo.push(quo.context, by_kind, 0, -1) || quo.pop(quo.context)) fail("QUO_bind_push");
}
static void ours_distribute(void) {
  int chosen;
  if (steelyard_node_distribute(node, STEELYARD_PACKAGE, 1, &chosen)) fail(steelyard_message());
}
static void quo_distribute(void) {
  int chosen;
  if (quo.distribute(quo.context, package, 1, &chosen)) fail("QUO_auto_distrib");
}
static void ours_barrier(void) { steelyard_node_barrier(node); }
static void quo_barrier(void) { quo.barrier(quo.context); }
static void ours_create(void) {
  steelyard_node_t* made;
  if (steelyard_node_create(MPI_COMM_WORLD, &made)) fail(steelyard_message());
  steelyard_node_free(made);
}
static void quo_create(void) {
  void* made;
  if (quo.create(&made, MPI_COMM_WORLD) || quo.free(made)) fail("QUO_create");
}

static const struct {
  const char* name;
  void (*ours)(void);
  void (*theirs)(void);
  int repeats;
} costs[] = {{"push", ours_push, quo_push, 500},
             {"distribute", ours_distribute, quo_distribute, 200},
             {"barrier", ours_barrier, quo_barrier, 500},
             {"create", ours_create, quo_create, 5}};

static int batches = most_batches;

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double batch(void (*operation)(void), int repeats) {
  MPI_Barrier(MPI_COMM_WORLD);
  operation();
  const double start = MPI_Wtime();
  for (int i = 0; i < repeats; ++i) operation();
  return (MPI_Wtime() - start) / repeats * 1e9;
}

static double over_ranks(double* times) {
  qsort(times, (size_t)batches, sizeof(double), ascending);
  double sum = 0;
  MPI_Allreduce(&times[batches / 2], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / ranks;
}

static void measure_cost(const char* name) {
  for (size_t which = 0; which < sizeof(costs) / sizeof(costs[0]); ++which) {
    if (strcmp(costs[which].name, name) != 0) continue;
    double ours[most_batches], theirs[most_batches];
    for (int i = 0; i < batches; ++i) {
      ours[i] = batch(costs[which].ours, costs[which].repeats);
      if (quo.context != NULL) theirs[i] = batch(costs[which].theirs, costs[which].repeats);
    }
    const double mine = over_ranks(ours), others = quo.context != NULL ? over_ranks(theirs) : 0;
    if (rank == 0) printf("steelyard %.1f\nquo %.1f\n", mine, others);
    return;
  }
  fail("--cost is push, distribute, barrier or create");
}

// A chain of dependent operations in each thread: time on a core and nothing else.
static double compute(long rounds) {
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    double x = omp_get_thread_num();
    for (long i = 0; i < rounds; ++i) x = 0.5 * x + 1.0;
    sum += x;
  }
  return sum;
}

static void measure_wait(const char* how, long rounds) {
  const int threads = omp_get_max_threads();
  const int by_steelyard = strcmp(how, "steelyard") == 0, by_quo = strcmp(how, "quo") == 0,
            by_mpi = strcmp(how, "mpi") == 0;
  steelyard_phase_t* phase = NULL;
  if (steelyard_phase_create(node, STEELYARD_MACHINE, 1, &phase)) fail(steelyard_message());
  double sum = 0, seconds = 0, around = 0;
  for (int i = 0; i <= phases; ++i) {
    int chosen = rank == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (by_steelyard && steelyard_phase_enter(phase, &chosen)) fail(steelyard_message());
    if (by_quo && chosen && quo.push(quo.context, by_kind, 0, -1)) fail("QUO_bind_push");
    if (by_mpi && chosen && steelyard_binding_push_enclosing(node, STEELYARD_MACHINE, threads))
      fail(steelyard_message());
    const double entered = MPI_Wtime();
    if (chosen) sum += compute(rounds);
    const double computed = MPI_Wtime();
    if (by_steelyard && steelyard_phase_leave(phase)) fail(steelyard_message());
    if (by_quo && chosen && quo.pop(quo.context)) fail("QUO_bind_pop");
    if (by_quo) quo.barrier(quo.context);
    if (by_mpi && chosen && steelyard_binding_pop(node)) fail(steelyard_message());
    if (by_mpi) MPI_Barrier(MPI_COMM_WORLD);
    if (i == 0) continue;  // it starts the threads
    const double end = MPI_Wtime();
    seconds += end - start;
    around += entered - start + end - computed;
  }
  steelyard_phase_free(phase);
  if (rank == 0) printf("sum %.0f\nseconds %.6f\naround the computing %.6f\n", sum, seconds, around);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_until(double moment) {
  const struct timespec t = {(time_t)moment, (long)(1e9 * (moment - (double)(time_t)moment))};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
}

// Two coupled libraries: one of single-threaded ranks, one of ranks with `threads` threads. `everywhere` is the part of
// the time that the first one takes where only as many ranks run as there are cores for the second one's threads. That
// is `under`: no more ranks than that are started. Otherwise a rank was started on each core, and the second library is
// a phase. A step is as long as it has to be for its two parts to take `mixed_ms` there: what a phase costs does not
// depend on its length.
static double step_mixed(steelyard_phase_t* phase, double everywhere, int threads, int under) {
  const double step = 1e-3 * mixed_ms / (everywhere / threads + 1 - everywhere);
  const double first = step * everywhere / (under ? 1 : threads), second = step * (1 - everywhere);
  int chosen = 1;
  steelyard_node_barrier(node);
  const double start = now();
  sleep_until(start + first);
  steelyard_node_barrier(node);
  if (!under && steelyard_phase_enter(phase, &chosen)) fail(steelyard_message());
  if (chosen) {
    int team = 0;
    const double done = now() + second;
#pragma omp parallel
    {
#pragma omp single nowait
      team = omp_get_num_threads();
      sleep_until(done);
    }
    if (team != threads) fail("the threaded library has not got its threads");
  }
  if (under) steelyard_node_barrier(node);
  if (!under && steelyard_phase_leave(phase)) fail(steelyard_message());
  return now() - start;
}

static void measure_mixed(const char* percents, int threads, int under) {
  steelyard_phase_t* phase = NULL;
  int packages = 0, cores = 0;
  if (steelyard_node_count_resources(node, STEELYARD_PACKAGE, &packages)) fail(steelyard_message());
  if (steelyard_node_count_resources(node, STEELYARD_CORE, &cores)) fail(steelyard_message());
  if (threads * packages != cores && threads != cores) fail("--threads: the cores of a package, or of the machine");
  if (steelyard_phase_create(node, threads == cores ? STEELYARD_MACHINE : STEELYARD_PACKAGE, 1, &phase))
    fail(steelyard_message());
  step_mixed(phase, 0.5, threads, under);  // starts the threads
  for (const char* at = percents; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    double seconds = 0;
    for (int i = 0; i < mixed_steps; ++i) seconds += step_mixed(phase, atof(at) / 100, threads, under);
    if (rank == 0) printf("seconds %.6f\n", seconds);
  }
  steelyard_phase_free(phase);
}

int main(int argc, char** argv) {
  int creations = 0, threads = 0, under = 0;
  const char *mixed = NULL, *cost = NULL, *wait = NULL, *library = NULL;
  long rounds = 60L * 1000 * 1000;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--cost=", 7) == 0) {
      cost = argv[i] + 7;
    } else if (strncmp(argv[i], "--wait=", 7) == 0) {
      wait = argv[i] + 7;
    } else if (strncmp(argv[i], "--quo=", 6) == 0) {
      library = argv[i] + 6;
    } else if (strncmp(argv[i], "--rounds=", 9) == 0) {
      rounds = atol(argv[i] + 9);
    } else if (strcmp(argv[i], "--once") == 0) {
      batches = 1;
    } else if (strncmp(argv[i], "--creations=", 12) == 0) {
      creations = atoi(argv[i] + 12);
    } else if (strncmp(argv[i], "--mixed=", 8) == 0) {
      mixed = argv[i] + 8;
    } else if (strncmp(argv[i], "--threads=", 10) == 0) {
      threads = atoi(argv[i] + 10);
    } else if (strcmp(argv[i], "--under") == 0) {
      under = 1;
    } else {
      fail(
          "options: --cost=..., --once, --creations=N, --wait=... or --mixed=..., --quo=libquo.so, --rounds=N, "
          "--threads=T, --under");
    }
  }
  for (int i = 0; i < creations; ++i) ours_create();
  if (steelyard_node_create(MPI_COMM_WORLD, &node)) fail(steelyard_message());
  if (library != NULL) {
    load_quo(library);
    if (quo.create(&quo.context, MPI_COMM_WORLD)) fail("QUO_create");
  }
  if (cost != NULL) measure_cost(cost);
  if (wait != NULL) measure_wait(wait, rounds);
  if (mixed != NULL) measure_mixed(mixed, threads, under);
  if (quo.context != NULL) quo.free(quo.context);
  steelyard_node_free(node);
  MPI_Finalize();
  return 0;
}
