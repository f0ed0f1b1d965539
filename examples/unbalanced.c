/* SPDX-License-Identifier: BSD-3-Clause */
// An MPI+OpenMP program whose ranks have unequal loads. It knows nothing of Steelyard: run it as it is, then under
// `steelyard run`, and compare. Its checksum counts every iteration exactly once, whatever the number of threads.
#define _GNU_SOURCE
#include <getopt.h>
#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static const char usage[] =
    "usage: unbalanced [options]\n"
    "  --steps=N              time steps (20)\n"
    "  --work=MS              work of the mean rank in a step, thread-milliseconds (40)\n"
    "  --imbalance=PERCENT    100: the heaviest rank has twice the mean load, the others share the rest (100)\n"
    "  --loads=A,B,...        one relative load per rank, instead of --imbalance\n"
    "  --drift=K              every K steps each load moves on to the next rank (0: never)\n"
    "  --regions=R            parallel regions in a step (1)\n"
    "  --kernel=KIND          compute: floating point; sleep: deadlines that stand for cores that are not here "
    "(compute)\n"
    "  --rounds=N             length of an iteration of compute, at least 100 (0: measured at start, for 50 us)\n"
    "  --collective=KIND      what ends a step: barrier or allreduce (barrier)\n";

enum { iteration_ns = 50000, longest_debt_ns = 1000000, max_ranks = 4096 };

static struct {
  long steps, drift, regions, rounds;
  double work_ms, imbalance;
  double loads[max_ranks];
  int load_count;
  bool sleeps, allreduce;
} options = {.steps = 20, .regions = 1, .work_ms = 40, .imbalance = 100};

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(long long deadline) {
  const struct timespec t = {deadline / 1000000000, deadline % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
  }
}

// A chain of dependent operations that converges to 2, exactly, after 60 rounds.
static long compute(double x, long rounds) {
  for (long i = 0; i < rounds; ++i) x = 0.5 * x + 1.0;
  return (long)x;
}

static long rounds_per_iteration(void) {
  const long trial = 100000;
  long long best = 0;
  for (int i = 0; i < 10; ++i) {
    const long long start = now_ns();
    const long two = compute(i, trial);
    const long long took = (now_ns() - start) * two / 2;
    if (i == 0 || took < best) best = took;
  }
  const long rounds = (long)((double)trial * iteration_ns / (double)best);
  return rounds > 100 ? rounds : 100;
}

// What an iteration adds to the checksum.
static long token(long step, long region, long i) { return (step * 7919 + region * 31337 + i * 104729) % 1000003; }

// An iteration costs its time at once, but a thread sleeps only when it owes a millisecond: the kernel cannot time
// less.
static long run_region(long step, long region, long iterations) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    long long deadline = now_ns();
#pragma omp for schedule(dynamic) nowait
    for (long i = 0; i < iterations; ++i) {
      long two = 2;
      if (options.sleeps) {
        deadline += iteration_ns;
        if (deadline - now_ns() >= longest_debt_ns) sleep_until(deadline);
      } else {
        two = compute((double)i, options.rounds);
      }
      sum += token(step, region, i) * two / 2;
    }
    if (options.sleeps) sleep_until(deadline);
  }
  return sum;
}

static long iterations_at(int rank, int ranks, long step) {
  const long moved = options.drift > 0 ? step / options.drift : 0;
  const int position = (int)(((rank - moved) % ranks + ranks) % ranks);
  return (long)(options.loads[position] * options.work_ms * 1e6 / iteration_ns / (double)options.regions + 0.5);
}

static long expected_sum(int rank, int ranks) {
  long sum = 0;
  for (long step = 0; step < options.steps; ++step) {
    const long iterations = iterations_at(rank, ranks, step);
    for (long region = 0; region < options.regions; ++region) {
      for (long i = 0; i < iterations; ++i) sum += token(step, region, i);
    }
  }
  return sum;
}

// Loads relative to their mean. Returns what is wrong, or NULL.
static const char* distribute(int ranks) {
  if (ranks > max_ranks) return "too many ranks: at most 4096";
  if (options.load_count == 0) {
    const double heaviest = ranks > 1 ? 1 + options.imbalance / 100 : 1;
    if (heaviest > ranks)
      return "--imbalance: one rank cannot have more than the work of all; at most 100 x (ranks - 1)";
    for (int r = 0; r < ranks; ++r) options.loads[r] = r == 0 ? heaviest : (ranks - heaviest) / (ranks - 1);
    return NULL;
  }
  if (options.load_count != ranks) return "--loads: one load per rank is needed";
  double total = 0;
  for (int r = 0; r < ranks; ++r) total += options.loads[r];
  if (total <= 0) return "--loads: at least one must be above 0";
  for (int r = 0; r < ranks; ++r) options.loads[r] *= ranks / total;
  return NULL;
}

static bool number(const char* text, double least, double* value) {
  char* end = NULL;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value >= least && *value <= 1e12;
}

static bool whole(const char* text, long least, long* value) {
  double real = 0;
  if (!number(text, (double)least, &real) || real != (double)(long)real) return false;
  *value = (long)real;
  return true;
}

static bool choice(const char* text, const char* no, const char* yes, bool* value) {
  *value = strcmp(text, yes) == 0;
  return *value || strcmp(text, no) == 0;
}

static bool load_list(char* text) {
  options.load_count = 0;
  for (char* word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
    if (options.load_count == max_ranks || !number(word, 0, &options.loads[options.load_count++])) return false;
  }
  return options.load_count > 0;
}

// Returns what is wrong, or NULL.
static const char* parse(int argc, char** argv, bool speaks) {
  enum { steps = 1, work, imbalance, loads, drift, regions, kernel, rounds, collective };
  static const struct option table[] = {{"steps", 1, NULL, steps},           {"work", 1, NULL, work},
                                        {"imbalance", 1, NULL, imbalance},   {"loads", 1, NULL, loads},
                                        {"drift", 1, NULL, drift},           {"regions", 1, NULL, regions},
                                        {"kernel", 1, NULL, kernel},         {"rounds", 1, NULL, rounds},
                                        {"collective", 1, NULL, collective}, {NULL, 0, NULL, 0}};
  opterr = speaks;
  for (int option; (option = getopt_long(argc, argv, "", table, NULL)) != -1;) {
    bool good = false;
    switch (option) {
      case steps: good = whole(optarg, 0, &options.steps); break;
      case work: good = number(optarg, 0, &options.work_ms); break;
      case imbalance: good = number(optarg, 0, &options.imbalance); break;
      case loads: good = load_list(optarg); break;
      case drift: good = whole(optarg, 0, &options.drift); break;
      case regions: good = whole(optarg, 1, &options.regions); break;
      case kernel: good = choice(optarg, "compute", "sleep", &options.sleeps); break;
      case rounds: good = whole(optarg, 0, &options.rounds) && (options.rounds == 0 || options.rounds >= 100); break;
      case collective: good = choice(optarg, "barrier", "allreduce", &options.allreduce); break;
      default: break;
    }
    if (!good) return "an option or its value is not understood";
  }
  return optind < argc ? "only options are taken" : NULL;
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const char* wrong = parse(argc, argv, rank == 0);
  if (wrong == NULL) wrong = distribute(ranks);
  if (wrong != NULL) {
    if (rank == 0) fprintf(stderr, "unbalanced: %s (%d ranks)\n%s", wrong, ranks, usage);
    MPI_Finalize();
    return 2;
  }
  if (options.sleeps) prctl(PR_SET_TIMERSLACK, 1UL);
  if (options.rounds == 0) {
    if (rank == 0) options.rounds = rounds_per_iteration();
    MPI_Bcast(&options.rounds, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  }

  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  long sum = 0;
  for (long step = 0; step < options.steps; ++step) {
    const long iterations = iterations_at(rank, ranks, step);
    for (long region = 0; region < options.regions; ++region) sum += run_region(step, region, iterations);
    if (options.allreduce) {
      long latest = 0;
      MPI_Allreduce(&step, &latest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  const double mine = MPI_Wtime() - start;

  double seconds = 0;
  const long sums[2] = {sum, expected_sum(rank, ranks)};
  long totals[2] = {0, 0};
  MPI_Reduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Allreduce(sums, totals, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const bool exact = totals[0] == totals[1];
  if (rank == 0) {
    printf("unbalanced: steps %ld, seconds %.4f, checksum %ld\n", options.steps, seconds, totals[0]);
    if (!exact) fprintf(stderr, "unbalanced: iterations were lost or repeated: the checksum must be %ld\n", totals[1]);
  }
  MPI_Finalize();
  return exact ? 0 : 1;
}
