// SPDX-License-Identifier: BSD-3-Clause
// What python_work.py calls by ctypes, and late_openmp.c: each unit of work is a deadline, so that it can be more than
// the cores here do.
#include <omp.h>
#include <time.h>

// The threads of a region. Without a query, so that the region may be resized.
int team(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  return threads;
}

// The number of units that were done.
long work(int units, double seconds) {
  long done = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : done)
  for (int i = 0; i < units; ++i) {
    const double end = omp_get_wtime() + seconds;
    while (omp_get_wtime() < end) nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    ++done;
  }
  return done;
}
