/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank dies inside a phase: the others must say so and end within seconds. */
#include <mpi.h>
#include <stdlib.h>
#include <steelyard/phases.h>
#include <unistd.h>

int main(int argc, char** argv) {
  steelyard_node_t* node;
  steelyard_phase_t* phase;
  int chosen;
  MPI_Init(&argc, &argv);
  if (steelyard_node_create(MPI_COMM_WORLD, &node) != STEELYARD_SUCCESS) return 1;
  if (steelyard_phase_create(node, STEELYARD_MACHINE, 1, &phase) != STEELYARD_SUCCESS) return 1;
  if (steelyard_phase_enter(phase, &chosen) != STEELYARD_SUCCESS) return 1;
  /* Not by a signal, and not through MPI: a launcher may be told to go on without the rank. */
  if (chosen) _exit(0);
  steelyard_phase_leave(phase);
  sleep(60);
  return 0;
}
