/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_DETAIL_MPI_H
#define STEELYARD_DETAIL_MPI_H
/* What the calls of phases.h and tasks.h that need MPI share. Private. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "steelyard/steelyard.h"

/* Room for a message of these functions. */
enum { STEELYARD_MPI_MESSAGE = MPI_MAX_ERROR_STRING + 64 };

/* The status for the return value of an MPI function. Writes the message of a failure. */
static inline steelyard_status_t steelyard_mpi_outcome(int error, const char* function, char* message) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (error == MPI_SUCCESS) return STEELYARD_SUCCESS;
  MPI_Error_string(error, text, &length);
  snprintf(message, STEELYARD_MPI_MESSAGE, "%s failed: %s", function, text);
  return STEELYARD_ERROR_MPI;
}

/* Whether a handle can be created over the communicator. Writes the message of a failure. */
static inline steelyard_status_t steelyard_mpi_usable(MPI_Comm communicator, char* message) {
  int initialized = 0, finalized = 0, inter = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) {
    strcpy(message, "MPI is not initialised, or finalised: make this call between MPI_Init and MPI_Finalize");
    return STEELYARD_ERROR_INVALID_STATE;
  }
  if (communicator == MPI_COMM_NULL) {
    strcpy(message, "the communicator is MPI_COMM_NULL: pass a communicator that this process is in");
    return STEELYARD_ERROR_INVALID_ARGUMENT;
  }
  MPI_Comm_test_inter(communicator, &inter);
  if (inter) {
    strcpy(message, "the communicator is an inter-communicator: pass an intra-communicator (MPI_Intercomm_merge)");
    return STEELYARD_ERROR_INVALID_ARGUMENT;
  }
  return STEELYARD_SUCCESS;
}

/* Has MPI_Finalize call `finalized` first: it begins by deleting the attributes of MPI_COMM_SELF. `key`:
 * MPI_KEYVAL_INVALID before the first call; later calls do nothing. */
static inline void steelyard_mpi_watch_finalize(MPI_Comm_delete_attr_function* finalized, int* key) {
  if (*key != MPI_KEYVAL_INVALID) return;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalized, key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, *key, NULL);
}

#endif
