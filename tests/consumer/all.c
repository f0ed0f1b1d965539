/* SPDX-License-Identifier: BSD-3-Clause */
/* Every header, from the installed package alone, with MPI: a context, a phase, a pool of tasks, a broadcast. */
#include <stdio.h>
#include <steelyard/collectives.h>
#include <steelyard/loops.h>
#include <steelyard/phases.h>
#include <steelyard/regions.h>
#include <steelyard/steelyard.h>
#include <steelyard/tasks.h>

static int twice(steelyard_task_t* task, void* context) {
  const int result = 2 * *(const int*)task->data;
  (void)context;
  steelyard_task_set_result(task, &result, sizeof(result));
  return 0;
}

static void add(const steelyard_task_result_t* result, void* sum) { *(int*)sum += *(const int*)result->data; }

int main(int argc, char** argv) {
  const steelyard_task_type_t types[] = {{"twice", twice, NULL, 1}};
  steelyard_node_t* node;
  steelyard_phase_t* wide;
  steelyard_task_pool_t* pool;
  int chosen = 0, sum = 0, i, word = 7;
  MPI_Init(&argc, &argv);
  steelyard_region_begin("all");
  steelyard_node_create(MPI_COMM_WORLD, &node);
  steelyard_phase_create(node, STEELYARD_MACHINE, 1, &wide);
  steelyard_phase_enter(wide, &chosen);
  steelyard_phase_leave(wide);
  steelyard_phase_free(wide);
  steelyard_node_free(node);
  steelyard_task_pool_create(MPI_COMM_WORLD, types, 1, NULL, &pool);
  for (i = 1; i <= 10; ++i) steelyard_task_pool_spawn(pool, 0, (uint64_t)i, &i, sizeof(i));
  steelyard_task_pool_run(pool, add, &sum);
  steelyard_task_pool_free(pool);
  steelyard_bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
  steelyard_region_end("all");
  MPI_Finalize();
  printf("consumer of all headers: chosen %d, sum %d, word %d; %s\n", chosen, sum, word, steelyard_message());
  return chosen == 1 && sum == 110 && word == 7 ? 0 : 1;
}
