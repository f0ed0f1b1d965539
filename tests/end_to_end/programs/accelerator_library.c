/* SPDX-License-Identifier: BSD-3-Clause */
// A stand-in for accelerator libraries: it has their symbols, and sleeps or polls where they wait for a device.
#include "accelerator.h"

#include <errno.h>
#include <time.h>

#define DEFINE(name, kind) \
  int name PARAMETERS_##kind { return SUM_##kind; }
CALLS(DEFINE)

int cudaStreamSynchronize(struct stream* stream) {
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  const long long ns = end.tv_nsec + stream->ns;
  end.tv_sec += ns / 1000000000;
  end.tv_nsec = ns % 1000000000;
  do {
    if (!stream->polls) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
  errno = 4711;
  return stream->result;
}
