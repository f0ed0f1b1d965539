/* A program outside of the project: built from the installed package alone. */
#include <stdio.h>
#include <steelyard/steelyard.h>
#include <string.h>

int main(void) {
  const steelyard_status_t status = steelyard_step();
  printf("consumer in C: version %s, %s\n", steelyard_version(), steelyard_message());
  return status == STEELYARD_INACTIVE && strstr(steelyard_message(), "steelyard run") != NULL ? 0 : 1;
}
