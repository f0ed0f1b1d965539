/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_DETAIL_PHASES_MPI_H
#define STEELYARD_DETAIL_PHASES_MPI_H
/*
 * The calls of phases.h that need MPI, compiled into the program so that they work with every MPI library. Included by
 * phases.h, which documents them; private otherwise.
 */
#include "steelyard/detail/mpi.h"
#include "steelyard/phases.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The processes of a node, and what they have agreed on. */
struct steelyard_mpi_node {
  MPI_Comm here;
  int agreed;
};
static inline void steelyard_mpi_node_wait(MPI_Request request) {
  int turn = 0, done = 0;
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    steelyard_internal_pause(turn++);
}
static inline void steelyard_mpi_node_broadcast(void* self, void* data, size_t size) {
  MPI_Request request;
  MPI_Ibcast(data, (int)size, MPI_BYTE, 0, ((struct steelyard_mpi_node*)self)->here, &request);
  steelyard_mpi_node_wait(request);
}
static inline int steelyard_mpi_node_all_agree(void* self, int mine) {
  struct steelyard_mpi_node* node = (struct steelyard_mpi_node*)self;
  MPI_Request request;
  MPI_Iallreduce(&mine, &node->agreed, 1, MPI_INT, MPI_MIN, node->here, &request); /* as in Fortran */
  steelyard_mpi_node_wait(request);
  return node->agreed;
}
/* MPICH's MPI_Comm_split_type splits twice, and needs six exchanges among all ranks; its MPI_Comm_split needs two. */
static inline int steelyard_mpi_is_mpich(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return strstr(version, "MPICH") != NULL;
}
/* An MPI error in the messages of the library ends the program: no call could report it to all ranks. */
static inline void steelyard_mpi_node_take(MPI_Comm here, steelyard_node_transport_t* transport) {
  ((struct steelyard_mpi_node*)transport->self)->here = here;
  MPI_Comm_set_errhandler(here, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_rank(here, &transport->rank);
  MPI_Comm_size(here, &transport->size);
}
static inline void steelyard_mpi_abort(void) { MPI_Abort(MPI_COMM_WORLD, 1); }
static inline int steelyard_mpi_node_finalized(MPI_Comm self, int key, void* value, void* state) {
  (void)self, (void)key, (void)value, (void)state;
  steelyard_internal_phases_finalize();
  return MPI_SUCCESS;
}
static inline void steelyard_mpi_node_watch_finalize(void) {
  static int key = MPI_KEYVAL_INVALID;
  steelyard_mpi_watch_finalize(steelyard_mpi_node_finalized, &key);
}

static inline steelyard_status_t steelyard_node_create(MPI_Comm communicator, steelyard_node_t** node) {
  struct steelyard_mpi_node self = {MPI_COMM_NULL, 1};
  steelyard_node_transport_t transport = {NULL,
                                          0,
                                          1,
                                          0,
                                          STEELYARD_SUCCESS,
                                          NULL,
                                          steelyard_mpi_node_broadcast,
                                          steelyard_mpi_node_all_agree,
                                          steelyard_mpi_abort};
  char message[STEELYARD_MPI_MESSAGE] = "";
  steelyard_status_t status;
  MPI_Comm here = MPI_COMM_NULL;
  int by_number = 0, world_rank = 0, error;
  transport.self = &self;
  transport.message = message;
  transport.status = steelyard_mpi_usable(communicator, message);
  if (transport.status == STEELYARD_SUCCESS) {
    steelyard_mpi_node_watch_finalize();
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    steelyard_internal_set_world_rank(world_rank);
    MPI_Comm_rank(communicator, &transport.rank_in_communicator);
    by_number = steelyard_mpi_is_mpich();
    error = by_number
                ? MPI_Comm_split(communicator, steelyard_internal_node_id(), transport.rank_in_communicator, &here)
                : MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, transport.rank_in_communicator, MPI_INFO_NULL,
                                      &here);
    transport.status = steelyard_mpi_outcome(error, "the split of the communicator by nodes", message);
  }
  if (transport.status == STEELYARD_SUCCESS) steelyard_mpi_node_take(here, &transport);
  status = steelyard_node_create_with_transport(&transport, node);
  /* Two nodes may have the same number. Then all got a failure: a file in memory belongs to one node. */
  if (by_number && !self.agreed) {
    MPI_Comm several = here;
    const int before = transport.size;
    MPI_Comm_split_type(several, MPI_COMM_TYPE_SHARED, transport.rank, MPI_INFO_NULL, &here);
    MPI_Comm_free(&several);
    steelyard_mpi_node_take(here, &transport);
    if (transport.size < before) status = steelyard_node_create_with_transport(&transport, node);
  }
  if (here != MPI_COMM_NULL) MPI_Comm_free(&here);
  return status;
}

static inline steelyard_status_t steelyard_node_split(const steelyard_node_t* node, MPI_Comm communicator,
                                                      steelyard_resource_t resource, MPI_Comm* part) {
  char message[STEELYARD_MPI_MESSAGE] = "";
  int index = 0, rank = 0, error;
  MPI_Comm here = MPI_COMM_NULL;
  steelyard_status_t status = steelyard_node_find_closest(part == NULL ? NULL : node, resource, &index);
  if (part != NULL) *part = MPI_COMM_NULL;
  if (status != STEELYARD_SUCCESS) return status;
  status = steelyard_mpi_usable(communicator, message);
  if (status == STEELYARD_SUCCESS) {
    MPI_Comm_rank(communicator, &rank);
    error = MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
    if (error == MPI_SUCCESS) error = MPI_Comm_split(here, index, rank, part);
    if (here != MPI_COMM_NULL) MPI_Comm_free(&here);
    status = steelyard_mpi_outcome(error, "the split of the communicator by resources", message);
  }
  if (status != STEELYARD_SUCCESS) steelyard_internal_set_message(message, strlen(message));
  return status;
}

#ifdef __cplusplus
}
#endif
#endif
