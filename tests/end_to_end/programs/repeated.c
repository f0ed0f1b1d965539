/* SPDX-License-Identifier: BSD-3-Clause */
// Regions that repeat their work in each thread, and query no thread ID: the sum depends on the size of each team.
// repeated SHAPE ... prints the sums of each rank, the same with Steelyard as without:
//   clause  num_threads(2)
//   plain   the program's thread count
//   inner   num_threads(2), and an inner region in each thread
//   nested  the same with two active levels
//   set     omp_set_num_threads(3) before each region
//   max     num_threads(omp_get_max_threads()), and what the serial part reads
//   single, master, queue, at_times
//           the program's thread count; single, master, a counter that the threads share, and a loop in every third
//           region change nothing: the rest is repeated
// These share out work and also do something in each thread, which Steelyard does not see:
//   beside, each_task, briefly
// In these, the threads share out the work, so the sum is the same in a team of any size:
//   loop, empty, sections, tasks, taskloop; the loop of `empty` has no iterations in every third region
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { steps = 15 };

static volatile int length = 300000;  // read at run time, or the compiler replaces the loop by its result

// At most 6.
static long work(int seed) {
  unsigned long x = (unsigned long)seed + 1;
  for (int i = 0; i < length; ++i) x = x * 6364136223846793005UL + 1442695040888963407UL;
  return (long)(x >> 33) % 7;
}

static long clause(int step) {
  long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum += work(step);
  return sum;
}

static long plain(int step) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += work(step);
  return sum;
}

static long inner(int step) {
  long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    sum += work(step);
#pragma omp parallel reduction(+ : sum)
    sum += 10 * work(step + 1);
  }
  return sum;
}

static long nested(int step) {
  omp_set_max_active_levels(2);
  return inner(step);
}

static long set(int step) {
  omp_set_num_threads(3);
  return plain(step) + 10L * omp_get_max_threads();
}

static long max(int step) {
  long sum = omp_get_max_threads() + 10L * (omp_get_thread_limit() % 1000) + 10000L * omp_get_dynamic();
#pragma omp parallel num_threads(omp_get_max_threads()) reduction(+ : sum)
  sum += work(step);
  return sum;
}

static long single(int step) {
  long sum = 0, once = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp single
    once = work(step);
    sum += once + work(step);
  }
  return sum;
}

static long master(int step) {
  long sum = 0, once = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp master
    once = work(step);
#pragma omp barrier
    sum += once + work(step);
  }
  return sum;
}

static long queue(int step) {
  long sum = 0;
  int next = 0;
#pragma omp parallel reduction(+ : sum)
  {
    for (;;) {
      int mine;
#pragma omp atomic capture
      mine = next++;
      if (mine >= 4) break;
      sum += work(step + mine);
    }
    ++sum;
  }
  return sum;
}

static long at_times(int step) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    if (step % 3 == 0) {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 4; ++i) sum += work(step + i);
    } else {
      sum += work(step);
    }
  }
  return sum;
}

static long beside(int step) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    ++sum;
#pragma omp for
    for (int i = 0; i < 4; ++i) sum += work(step + i);
  }
  return sum;
}

static long each_task(int step) {
  long sum = 0;
#pragma omp parallel
  {
#pragma omp task shared(sum)
    {
      const long mine = work(step);
#pragma omp atomic
      sum += mine;
    }
  }
  return sum;
}

static long briefly(int step) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    if (step % 3 == 0) {
      ++sum;
    } else {
#pragma omp for
      for (int i = 0; i < 4; ++i) sum += work(step + i);
    }
  }
  return sum;
}

static long loop(int step) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 4; ++i) sum += work(step + i);
  return sum;
}

static long empty(int step) {
  long sum = 0;
  const unsigned long count = step % 3 == 0 ? 0 : 4;
#pragma omp parallel for reduction(+ : sum)
  for (unsigned long i = 0; i < count; ++i) sum += work(step + (int)i);
  return sum;
}

static long sections(int step) {
  long sum = 0;
#pragma omp parallel sections reduction(+ : sum)
  {
    sum += work(step);
#pragma omp section
    sum += work(step + 1);
#pragma omp section
    sum += work(step + 2);
#pragma omp section
    sum += work(step + 3);
  }
  return sum;
}

static long tasks(int step) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4; ++i) {
#pragma omp task
    {
      const long mine = work(step + i);
#pragma omp atomic
      sum += mine;
    }
  }
  return sum;
}

static long taskloop(int step) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
  for (int i = 0; i < 4; ++i) {
    const long mine = work(step + i);
#pragma omp atomic
    sum += mine;
  }
  return sum;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    long (*run)(int step);
  } shapes[] = {{"clause", clause},   {"plain", plain},       {"inner", inner},   {"nested", nested},
                {"set", set},         {"max", max},           {"single", single}, {"master", master},
                {"queue", queue},     {"at_times", at_times}, {"beside", beside}, {"each_task", each_task},
                {"briefly", briefly}, {"loop", loop},         {"empty", empty},   {"sections", sections},
                {"tasks", tasks},     {"taskloop", taskloop}};
  const size_t known = sizeof(shapes) / sizeof(shapes[0]);
  int rank = 0, ranks = 0, status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int arg = 1; arg < argc; ++arg) {
    size_t shape = 0;
    while (shape < known && strcmp(shapes[shape].name, argv[arg]) != 0) ++shape;
    if (shape == known) status = 2;
    long sum = 0, all[64] = {0};
    for (int step = 0; shape < known && step < steps; ++step) {
      // Rank 0 computes for longest: the others lend it their cores.
      for (int part = 0; part < (rank == 0 ? 3 : 1); ++part) sum += shapes[shape].run(step + part);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Gather(&sum, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < ranks; ++r) printf("%s, rank %d: %ld\n", argv[arg], r, all[r]);
  }
  MPI_Finalize();
  return status;
}
