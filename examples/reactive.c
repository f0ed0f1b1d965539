/* SPDX-License-Identifier: BSD-3-Clause */
// Chemistry that is stiff in few cells: the cells of rank 0 take twenty times as long as the others. Each cell is a
// task, which runs on an idle process; its result returns to its owner. The checksum is the same wherever tasks run.
#include <mpi.h>
#include <stdio.h>
#include <steelyard/tasks.h>

enum { steps = 5, cells = 200, modulus = 1000003 };

struct cell {
  long state;
  long stiffness;
};

static void check(steelyard_status_t status) {
  if (status == STEELYARD_SUCCESS) return;
  fprintf(stderr, "reactive: %s\n", steelyard_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int integrate(steelyard_task_t* task, void* context) {
  const struct cell* cell = task->data;
  long state = cell->state;
  (void)context;
  for (long i = 0; i < 1000 * cell->stiffness; ++i) state = (state * state + 1) % modulus;
  steelyard_task_set_result(task, &state, sizeof(state));
  return 0;
}

static void keep(const steelyard_task_result_t* result, void* user) {
  struct cell* field = user;
  field[result->tag].state = *(const long*)result->data;
}

int main(int argc, char** argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const steelyard_task_type_t types[] = {{"integrate", integrate, NULL, 1}};
  steelyard_task_pool_t* pool;
  check(steelyard_task_pool_create(MPI_COMM_WORLD, types, 1, NULL, &pool));

  struct cell field[cells];
  for (int i = 0; i < cells; ++i) {
    field[i].state = ((long)rank * cells + i) * 7919 % modulus;
    field[i].stiffness = rank == 0 ? 20 : 1;
  }
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < cells; ++i) check(steelyard_task_pool_spawn(pool, 0, (uint64_t)i, &field[i], sizeof(field[i])));
    check(steelyard_task_pool_run(pool, keep, field));
  }
  long sum = 0, total = 0;
  for (int i = 0; i < cells; ++i) sum += field[i].state;
  MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("reactive: steps %d, checksum %ld\n", steps, total);
  check(steelyard_task_pool_free(pool));
  MPI_Finalize();
  return 0;
}
