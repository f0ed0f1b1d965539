#include <steelyard/phases.h>

void chemistry(void* data);
void step(void* field, size_t bytes);
void step(void* field, size_t bytes) {
  steelyard_view_t all, mine;
  int chosen;
@BLOCK@
}
