#include <steelyard/tasks.h>

struct cell { double state[8]; };
struct rates { double rate[8]; };
struct rates chemistry(const void* input);
void keep(const steelyard_result_t* result, void* cells);
@BLOCK@
void simulate(struct cell* cell, int cells, int steps);
void simulate(struct cell* cell, int cells, int steps) {
  steelyard_tasks_t* pool;
@BLOCK@
}
