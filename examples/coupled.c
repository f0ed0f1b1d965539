/* SPDX-License-Identifier: BSD-3-Clause */
// Two libraries that share a field: `transport` runs best with one process a core, `chemistry` with one process a NUMA
// domain and a thread on each of its cores. The field is remapped between them. The result is the same with any number
// of ranks that work, any number of threads, and where only one rank is there.
//
// chemistry is callee-driven: it has its phase inside, and its caller knows nothing of it. equilibrate is a threaded
// function that cannot be changed: its caller makes room for it (caller-driven).
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <steelyard/phases.h>

enum { steps = 10, cells = 300, modulus = 1000003 };

static void check(steelyard_status_t status) {
  if (status == STEELYARD_SUCCESS) return;
  fprintf(stderr, "coupled: %s\n", steelyard_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// MPI-everywhere: each cell takes from its neighbours, on a ring of all ranks.
static void transport(long* field, int rank, int ranks) {
  long left, right, old[cells + 2];
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(&field[cells - 1], 1, MPI_LONG, next, 0, &left, 1, MPI_LONG, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&field[0], 1, MPI_LONG, previous, 1, &right, 1, MPI_LONG, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  old[0] = left;
  for (int i = 0; i < cells; ++i) old[i + 1] = field[i];
  old[cells + 1] = right;
  for (int i = 0; i < cells; ++i) field[i] = (old[i] + 2 * old[i + 1] + old[i + 2]) % modulus;
}

// MPI+OpenMP, callee-driven: few ranks work, for all.
static steelyard_phase_t* wide;

static void chemistry(long* field) {
  steelyard_view_t all, mine;
  int chosen;
  check(steelyard_phase_gather(wide, field, cells * sizeof(long), &all));
  check(steelyard_phase_enter(wide, &chosen));
  if (chosen) {
    long* state = all.data;
    const long count = (long)all.parts * cells;
#pragma omp parallel for
    for (long i = 0; i < count; ++i) state[i] = (state[i] * state[i] + 1) % modulus;
  }
  check(steelyard_phase_leave(wide));
  check(steelyard_phase_scatter(wide, all.data, all.sizes, &mine));
  for (int i = 0; i < cells; ++i) field[i] = ((long*)mine.data)[i];
}

// A threaded function that cannot be changed.
static long equilibrate(long start) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < 1000; ++i) sum += (start + i) * (start + i) % modulus;
  return sum;
}

int main(int argc, char** argv) {
  int rank, ranks, provided, chosen;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  steelyard_node_t* node;
  check(steelyard_node_create(MPI_COMM_WORLD, &node));
  check(steelyard_phase_create(node, STEELYARD_NUMA, 1, &wide));

  long field[cells];
  for (int i = 0; i < cells; ++i) field[i] = ((long)rank * cells + i) * 7919 % 1000;
  for (int step = 0; step < steps; ++step) {
    transport(field, rank, ranks);
    chemistry(field);
  }
  long sum = 0, total = 0;
  for (int i = 0; i < cells; ++i) sum += field[i];
  MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);

  // Caller-driven: the parts of a phase, one by one.
  long result = 0, results = 0;
  check(steelyard_node_distribute(node, STEELYARD_MACHINE, 1, &chosen));
  if (chosen) {
    check(steelyard_node_barrier(node));
    check(steelyard_binding_push_enclosing(node, STEELYARD_MACHINE, STEELYARD_THREADS_ONE_PER_CORE));
    result = equilibrate(total);
    check(steelyard_binding_pop(node));
    check(steelyard_node_barrier(node));
  } else {
    check(steelyard_node_barrier(node));
    check(steelyard_node_quiesce(node));
  }
  MPI_Allreduce(&result, &results, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);

  if (rank == 0) printf("coupled: steps %d, checksum %ld\n", steps, total + results);
  steelyard_phase_free(wide);
  steelyard_node_free(node);
  MPI_Finalize();
  return 0;
}
