/* SPDX-License-Identifier: BSD-3-Clause */
/* A program outside of the project: built from the installed package alone. */
#include <stdio.h>
#include <steelyard/loops.h>
#include <steelyard/regions.h>
#include <steelyard/steelyard.h>
#include <string.h>

/* Needs neither MPI nor OpenMP. */
static int loop_sum(void) {
  steelyard_loop_options_t options = STEELYARD_LOOP_OPTIONS_DEFAULT;
  steelyard_loop_t* loop;
  steelyard_iterations_t mine;
  int64_t i, sum = 0;
  options.strategy = "steal";
  steelyard_loop_create("sum", &options, &loop);
  steelyard_loop_begin(loop, 10, 0, -1, &mine);
  while (steelyard_loop_next(&mine))
    for (i = mine.begin; i > mine.end; i += mine.stride) sum += i;
  steelyard_loop_end(&mine);
  steelyard_loop_free(loop);
  return (int)sum;
}

int main(void) {
  const steelyard_status_t status = steelyard_step();
  printf("consumer in C: version %s, %s\n", steelyard_version(), steelyard_message());
  if (steelyard_version_number() != STEELYARD_VERSION_NUMBER) return 2;
  if (steelyard_region_begin("all") != STEELYARD_INACTIVE) return 3;
  if (steelyard_region_end("all") != STEELYARD_INACTIVE) return 4;
  return loop_sum() == 55 && status == STEELYARD_INACTIVE && strstr(steelyard_message(), "steelyard run") != NULL ? 0
                                                                                                                  : 1;
}
