/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_DETAIL_TASKS_MPI_H
#define STEELYARD_DETAIL_TASKS_MPI_H
/*
 * The calls of tasks.h that need MPI, compiled into the program so that they work with every MPI library. Included by
 * tasks.h, which documents them; private otherwise.
 */
#include <stdlib.h>

#include "steelyard/detail/mpi.h"
#include "steelyard/detail/nodes_mpi.h"
#include "steelyard/tasks.h"
#ifdef __cpp_exceptions
#include <exception>
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { steelyard_mpi_slots = 64 };
typedef struct steelyard_mpi_transport {
  MPI_Comm all, here;
  MPI_Message message;
  MPI_Request sends[steelyard_mpi_slots]; /* MPI_REQUEST_NULL: free */
  int* nodes;
} steelyard_mpi_transport_t;

static inline void steelyard_mpi_transport_broadcast(void* self, void* data, size_t size, int in_node) {
  steelyard_mpi_transport_t* transport = (steelyard_mpi_transport_t*)self;
  MPI_Bcast(data, (int)size, MPI_BYTE, 0, in_node ? transport->here : transport->all);
}
static inline int steelyard_mpi_transport_all_agree(void* self, int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, ((steelyard_mpi_transport_t*)self)->all);
  return all;
}
static inline int steelyard_mpi_transport_send(void* self, int to, const void* data, size_t size) {
  steelyard_mpi_transport_t* transport = (steelyard_mpi_transport_t*)self;
  int slot;
  for (slot = 0; slot < steelyard_mpi_slots; ++slot) {
    if (transport->sends[slot] != MPI_REQUEST_NULL) continue;
    MPI_Isend(data, (int)size, MPI_BYTE, to, 0, transport->all, &transport->sends[slot]);
    return slot;
  }
  return -1;
}
static inline int steelyard_mpi_transport_sent(void* self, int slot) {
  int done = 0;
  MPI_Test(&((steelyard_mpi_transport_t*)self)->sends[slot], &done, MPI_STATUS_IGNORE);
  return done;
}
static inline int steelyard_mpi_transport_arrived(void* self, int* from, size_t* size) {
  steelyard_mpi_transport_t* transport = (steelyard_mpi_transport_t*)self;
  MPI_Status status;
  int there = 0, count = 0;
  MPI_Improbe(MPI_ANY_SOURCE, 0, transport->all, &there, &transport->message, &status);
  if (!there) return 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *size = (size_t)count;
  return 1;
}
static inline void steelyard_mpi_transport_receive(void* self, void* data, size_t size) {
  MPI_Mrecv(data, (int)size, MPI_BYTE, &((steelyard_mpi_transport_t*)self)->message, MPI_STATUS_IGNORE);
}
static inline int steelyard_mpi_transport_open(void* self) {
  int finalized = 0;
  (void)self;
  MPI_Finalized(&finalized);
  return !finalized;
}
/* If messages are in transit the communicators are kept: MPI soon uses a freed communicator again under another handle,
 * which would then receive them. */
static inline void steelyard_mpi_transport_close(void* self, int clean) {
  steelyard_mpi_transport_t* transport = (steelyard_mpi_transport_t*)self;
  if (clean && steelyard_mpi_transport_open(self)) {
    MPI_Comm_free(&transport->here);
    MPI_Comm_free(&transport->all);
  }
  free(transport->nodes);
  free(transport);
}
/* What may be wrong on one rank alone. */
static inline steelyard_status_t steelyard_mpi_transport_possible(const void* self, int threads, char* message) {
  int level = 0;
  if (self == NULL) {
    strcpy(message, "there is no memory for a task pool: free memory of this process");
    return STEELYARD_ERROR_OUT_OF_MEMORY;
  }
  MPI_Query_thread(&level);
  if (threads > 1 && level < MPI_THREAD_FUNNELED) {
    strcpy(message,
           "a task pool of several threads per process needs MPI_Init_thread with MPI_THREAD_FUNNELED or more");
    return STEELYARD_ERROR_UNSUPPORTED;
  }
  return STEELYARD_SUCCESS;
}
/* Which ranks share memory, and how they are numbered. All ranks return the same, but for the message. */
static inline steelyard_status_t steelyard_mpi_transport_places(steelyard_mpi_transport_t* self, int ranks_per_node,
                                                                steelyard_task_transport_t* transport, char* message) {
  struct steelyard_mpi_nodes nodes = steelyard_mpi_find_nodes(self->all, ranks_per_node);
  int regular;
  self->here = nodes.here;
  transport->node_rank = nodes.node_rank;
  transport->node_size = nodes.node_size;
  transport->ranks_per_node = transport->node_size;
  MPI_Bcast(&transport->ranks_per_node, 1, MPI_INT, 0, self->all);
  {
    const int left = transport->size - nodes.node * transport->ranks_per_node;
    regular = transport->rank == nodes.node * transport->ranks_per_node + transport->node_rank &&
              transport->node_size == (left < transport->ranks_per_node ? left : transport->ranks_per_node);
  }
  if (steelyard_mpi_transport_all_agree(self, regular)) return STEELYARD_SUCCESS;
  self->nodes = (int*)malloc(sizeof(int) * (size_t)transport->size);
  if (!steelyard_mpi_transport_all_agree(self, self->nodes != NULL)) {
    strcpy(message, "a rank has no memory for the nodes of a task pool: free memory of its process");
    return STEELYARD_ERROR_OUT_OF_MEMORY;
  }
  MPI_Allgather(&nodes.node, 1, MPI_INT, self->nodes, 1, MPI_INT, self->all);
  transport->nodes = self->nodes;
  return STEELYARD_SUCCESS;
}

/* Compiled into the program: libsteelyard has a C++ runtime of its own, which cannot catch the program's exceptions. */
#ifdef __cpp_exceptions
static inline int steelyard_mpi_call(steelyard_task_function_t function, steelyard_task_t* task, void* context) {
  try {
    return function(task, context);
  } catch (const std::exception& exception) {
    steelyard_task_fail(task, exception.what());
  } catch (...) {
    steelyard_task_fail(task, "an exception that is not derived from std::exception");
  }
  return 0;
}
#define STEELYARD_MPI_CALL steelyard_mpi_call
#else
#define STEELYARD_MPI_CALL NULL
#endif
static inline int steelyard_mpi_transport_finalized(MPI_Comm self, int key, void* value, void* state) {
  (void)self, (void)key, (void)value, (void)state;
  steelyard_internal_task_pools_finalize();
  return MPI_SUCCESS;
}
static inline void steelyard_mpi_transport_watch_finalize(void) {
  static int key = MPI_KEYVAL_INVALID;
  steelyard_mpi_watch_finalize(steelyard_mpi_transport_finalized, &key);
}
static inline int steelyard_mpi_transport_world_rank(void* self, int rank) {
  MPI_Group here, world;
  int found = rank;
  MPI_Comm_group(((steelyard_mpi_transport_t*)self)->all, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(here, 1, &rank, world, &found);
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  return found == MPI_UNDEFINED ? rank : found;
}
/* Duplicates the communicator. Collective. A rank that cannot take part tells the others, which would wait
 * otherwise. */
static inline steelyard_status_t steelyard_mpi_transport_join(MPI_Comm communicator, int threads,
                                                              steelyard_mpi_transport_t* self, char* message) {
  steelyard_status_t status = steelyard_mpi_transport_possible(self, threads, message);
  int possible = status == STEELYARD_SUCCESS, all = 0, slot;
  int error = MPI_Allreduce(&possible, &all, 1, MPI_INT, MPI_LAND, communicator);
  if (status != STEELYARD_SUCCESS) return status;
  if (error == MPI_SUCCESS && !all) {
    strcpy(message, "another rank cannot create the task pool, because of its threads or its memory: see its message");
    return STEELYARD_ERROR_PEER;
  }
  if (error == MPI_SUCCESS) error = MPI_Comm_dup(communicator, &self->all);
  status = steelyard_mpi_outcome(error, "the duplication of the communicator", message);
  if (status != STEELYARD_SUCCESS) return status;
  /* An MPI error in the messages of the library ends the program: no call could report it to all ranks. */
  MPI_Comm_set_errhandler(self->all, MPI_ERRORS_ARE_FATAL);
  for (slot = 0; slot < steelyard_mpi_slots; ++slot) self->sends[slot] = MPI_REQUEST_NULL;
  self->message = MPI_MESSAGE_NULL;
  self->nodes = NULL;
  return STEELYARD_SUCCESS;
}

static inline steelyard_status_t steelyard_task_pool_create(MPI_Comm communicator, const steelyard_task_type_t* types,
                                                            int count, const steelyard_task_pool_options_t* options,
                                                            steelyard_task_pool_t** pool) {
  char message[STEELYARD_MPI_MESSAGE] = "";
  steelyard_status_t status;
  steelyard_task_transport_t transport = {NULL,
                                          0,
                                          1,
                                          0,
                                          1,
                                          1,
                                          NULL,
                                          STEELYARD_SUCCESS,
                                          NULL,
                                          steelyard_mpi_transport_broadcast,
                                          steelyard_mpi_transport_all_agree,
                                          steelyard_mpi_transport_send,
                                          steelyard_mpi_transport_sent,
                                          steelyard_mpi_transport_arrived,
                                          steelyard_mpi_transport_receive,
                                          NULL,
                                          NULL,
                                          steelyard_mpi_transport_open,
                                          steelyard_mpi_transport_close};
  transport.message = message;
  transport.status = steelyard_mpi_usable(communicator, message);
  if (transport.status == STEELYARD_SUCCESS) {
    steelyard_mpi_transport_t* self = (steelyard_mpi_transport_t*)malloc(sizeof(steelyard_mpi_transport_t));
    transport.status =
        steelyard_mpi_transport_join(communicator, options == NULL ? 1 : options->threads, self, message);
    if (transport.status != STEELYARD_SUCCESS) {
      free(self);
    } else {
      steelyard_mpi_transport_watch_finalize();
      MPI_Comm_rank(self->all, &transport.rank);
      MPI_Comm_size(self->all, &transport.size);
      transport.status =
          steelyard_mpi_transport_places(self, options == NULL ? 0 : options->ranks_per_node, &transport, message);
      if (transport.status == STEELYARD_SUCCESS)
        transport.self = self;
      else
        steelyard_mpi_transport_close(self, 1);
    }
  }
  status = steelyard_task_pool_create_with_transport(&transport, types, count, options, pool);
  if (status == STEELYARD_SUCCESS) {
    int level = 0;
    steelyard_internal_task_pool_callbacks(*pool, STEELYARD_MPI_CALL, steelyard_mpi_transport_world_rank);
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) steelyard_internal_task_pool_use_threads(*pool);
  }
  return status;
}
#undef STEELYARD_MPI_CALL

#ifdef __cplusplus
}
#endif
#endif
