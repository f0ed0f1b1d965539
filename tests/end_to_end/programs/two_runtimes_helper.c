/* A library that knows nothing of OpenMP: what it is called from, nobody can tell. */
#include <steelyard/loops.h>
#include <string.h>

/* 1: refused with a sentence, 0: all that this thread got was run, -1: neither. */
int helper_calls(int64_t count, int (*run)(int64_t)) {
  steelyard_iterations_t mine;
  char said[512];
  const steelyard_status_t begun = steelyard_loop_begin(NULL, 0, count, 1, &mine);
  strncpy(said, steelyard_message(), sizeof said - 1);
  said[sizeof said - 1] = 0;
  while (steelyard_loop_next(&mine))
    for (int64_t i = mine.first; i < mine.last; ++i) run(i);
  const steelyard_status_t ended = steelyard_loop_end(&mine);
  if (begun != STEELYARD_SUCCESS) return strstr(said, "regions of two OpenMP runtimes") != NULL ? 1 : -1;
  return ended == STEELYARD_SUCCESS ? 0 : -1;
}
