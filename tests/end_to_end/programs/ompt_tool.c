/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenMP tool: the run-time library loads it by OMP_TOOL_LIBRARIES, or finds it among the program's own
 * libraries. With TOOL_DECLINES in the environment it does not want to be used. */
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int (*initialise)(void* lookup, int device, void* data);
  void (*finalise)(void* data);
  unsigned long long data;
} Result;

static int initialise(void* lookup, int device, void* data) {
  (void)lookup, (void)device, (void)data;
  puts("the tool is used");
  return 1;
}

static void finalise(void* data) { (void)data; }

__attribute__((visibility("default"))) Result* ompt_start_tool(unsigned int version, const char* runtime);
Result* ompt_start_tool(unsigned int version, const char* runtime) {
  (void)version, (void)runtime;
  if (getenv("TOOL_DECLINES") != NULL) {
    puts("the tool declines");
    return NULL;
  }
  static Result result = {initialise, finalise, 0};
  return &result;
}
