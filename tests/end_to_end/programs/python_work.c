// SPDX-License-Identifier: BSD-3-Clause
// What python_work.py calls by ctypes: each unit of work is a deadline, so that it can be more than the cores here do.
#include <omp.h>
#include <time.h>

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
