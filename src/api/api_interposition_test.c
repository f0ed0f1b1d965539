/* SPDX-License-Identifier: BSD-3-Clause */
/* Built as C99 against libsteelyard. argv[1]: what the calls must find, "active" or "inactive". */
#include <stdio.h>
#include <steelyard/steelyard.h>
#include <string.h>

int main(int argc, char** argv) {
  const int active = argc == 2 && strcmp(argv[1], "active") == 0;
  const steelyard_status_t status = steelyard_step();
  omp_balanced();
  printf("active %d, status %d, version %s, message '%s'\n", steelyard_active(), (int)status, steelyard_version(),
         steelyard_message());
  if (steelyard_active() != active) return 1;
  if (status != (active ? STEELYARD_SUCCESS : STEELYARD_INACTIVE)) return 2;
  return (strlen(steelyard_message()) == 0) == active ? 0 : 3;
}
