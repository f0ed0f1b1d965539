/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_TASKS_H
#define STEELYARD_TASKS_H
/**
 * @file
 * Tasks: work that any process may do runs on an idle process, and its result returns to the process that created it.
 *
 * A task is a function and some bytes of input data. The process that spawns a task owns it. The task runs on whichever
 * process is idle. Its result, some bytes again, is delivered to its owner exactly once.
 *
 *     static int integrate(steelyard_task_t* task, void* context) {
 *       struct rates r = chemistry(task->data);
 *       steelyard_task_set_result(task, &r, sizeof(r));
 *       return 0;
 *     }
 *     static void keep(const steelyard_task_result_t* result, void* cells) { ... result->tag, result->data ... }
 *
 *     steelyard_task_type_t types[] = {{"integrate", integrate, NULL, 1}};
 *     steelyard_task_pool_t* pool;
 *     steelyard_task_pool_create(MPI_COMM_WORLD, types, 1, NULL, &pool);
 *     for (each time step) {
 *       for (i = 0; i < cells; ++i) steelyard_task_pool_spawn(pool, 0, i, &cell[i], sizeof(cell[i]));
 *       steelyard_task_pool_run(pool, keep, cell);
 *     }
 *     steelyard_task_pool_free(pool);
 *
 * The method is that of TITUS_DLB: distributed work stealing over a small-world overlay network, in which each process
 * communicates with few others. docs/tasks.md describes how it works and compares the two.
 *
 * Works with and without `steelyard run`, and with every MPI: the calls of MPI are compiled into the program. Link
 * `-lsteelyard`. Inside a node nothing goes through MPI after the creation of a pool. Status and messages: steelyard.h.
 * An error of MPI in the messages between nodes ends the program, since no call could report it to all ranks.
 *
 * C99, and C++; tasks.hpp has typed tasks for C++17, the module `steelyard_tasks` is for Fortran 2018. Define
 * STEELYARD_WITHOUT_MPI to leave out what needs mpi.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "steelyard/steelyard.h"
#ifndef STEELYARD_WITHOUT_MPI
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that the data of a task may have, and those of its result: 1 GiB, so that messages fit the counts of MPI. */
enum { STEELYARD_TASK_MAX_SIZE = 1 << 30 };

/** A pool: the tasks of all processes of a communicator. */
typedef struct steelyard_task_pool steelyard_task_pool_t;

/** A task while it runs. Owned by the pool, and void when the task's function has returned. */
typedef struct steelyard_task {
  const void* data; /**< input of the task, aligned to 8 bytes */
  size_t size;      /**< bytes of `data` */
  uint64_t tag;     /**< as passed when it was spawned */
  int owner;        /**< rank of the owner in the pool's communicator */
  int type;         /**< index of its type */
  void* internal;   /**< private to the library */
} steelyard_task_t;

/**
 * What the tasks of a type do. May call MPI only as the thread level of MPI allows, and must not wait for other tasks.
 *
 * Exceptions: if C++ code has created the pool, an exception out of the function is caught, and the task fails with its
 * message. If C or Fortran code has created the pool, the function must not throw: an exception ends the process.
 *
 * @param task    the task
 * @param context the context of its type, of the process that runs the task
 * @return 0; with another value the task has failed
 */
typedef int (*steelyard_task_function_t)(steelyard_task_t* task, void* context);

/** A type of tasks. */
typedef struct steelyard_task_type {
  const char* name;                   /**< the same on all ranks, which are checked for it */
  steelyard_task_function_t function; /**< what its tasks do */
  void* context;                      /**< passed to the function: the pointer of the process that runs the task */
  int has_result; /**< 1: each task delivers a result, if only of 0 bytes; 0: only failures are delivered */
} steelyard_task_type_t;

/** Options of a pool. */
typedef struct steelyard_task_pool_options {
  /** Threads of this process that run tasks; from 1. With more than one see steelyard_task_pool_help(). */
  int threads;
  /** Which process takes tasks from which: NULL or "small-world"; for comparison "random" (from any process),
   * "master" (all ask the first node), "groups" (hierarchical sharing), "none" (no task moves). With "groups", each run
   * deals the nodes into groups by load, and nodes of a group give each other one task at a time. */
  const char* policy;
  /** Fraction of the victim's tasks that a thief gets, above 0 and up to 1; 0: adaptive. With "groups", inside a
   * node only. */
  double steal_fraction;
  /** Nodes with which a node may communicate, at most; 0: 4 log2(nodes). With "groups": nodes of a group; 0: 28. */
  int degree;
  /** 0: all ranks of a node share memory; n: at most n of them do, the others communicate by messages. For tests. */
  int ranks_per_node;
} steelyard_task_pool_options_t;
/** Initialiser of steelyard_task_pool_options_t: one thread, all else decided by the library. */
#define STEELYARD_TASK_POOL_OPTIONS_DEFAULT {1, NULL, 0, 0, 0}

#ifndef STEELYARD_WITHOUT_MPI
/**
 * Creates a pool.
 *
 * @param communicator an intra-communicator; duplicated
 * @param types        types of the tasks; copied. All ranks pass the same types in the same order.
 * @param count        number of types; from 1
 * @param options      options; copied. NULL: STEELYARD_TASK_POOL_OPTIONS_DEFAULT. The same on all ranks, except for
 *                     `threads`.
 * @param[out] pool    the pool; the caller frees it with steelyard_task_pool_free()
 * @return STEELYARD_SUCCESS. If the call fails on one rank, it fails on all.
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `pool` is null, there is no type, a type has no name or function, an option
 *                                          is out of range, or the communicator is an inter-communicator or
 *                                          MPI_COMM_NULL (the latter concerns its own rank alone)
 * @retval STEELYARD_ERROR_INVALID_STATE    MPI is not initialised, or finalised
 * @retval STEELYARD_ERROR_MISMATCH         types or options of this rank are not those of rank 0
 * @retval STEELYARD_ERROR_PEER             the call has failed on another rank
 * @retval STEELYARD_ERROR_UNSUPPORTED      several threads need MPI_THREAD_FUNNELED, and MPI was initialised with less
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    memory of the process or shared memory in /dev/shm is exhausted
 * @retval STEELYARD_ERROR_SYSTEM           this process cannot open the shared memory
 * @retval STEELYARD_ERROR_MPI              MPI could not duplicate or split the communicator
 * @pre MPI is initialised and not finalised.
 * @note Collective over `communicator`. Blocks until all its ranks have made the call. Any thread that may call MPI; it
 *       becomes the pool's primary thread.
 */
static inline steelyard_status_t steelyard_task_pool_create(MPI_Comm communicator, const steelyard_task_type_t* types,
                                                            int count, const steelyard_task_pool_options_t* options,
                                                            steelyard_task_pool_t** pool);
#endif

/**
 * Frees a pool. Tasks that were spawned after the last run are executed, and their results dropped. If a rank does not
 * make the call, the others write a message after 10 s, and go on waiting.
 *
 * @param pool the pool; NULL is ignored
 * @return STEELYARD_SUCCESS. After an error the pool is freed nevertheless, unless the call was made in a task or a
 *         consumer.
 * @retval STEELYARD_ERROR_INVALID_STATE called in a task or by a consumer of results (the pool is not freed); other
 *                                       ranks are in a run; or MPI is finalised
 * @pre MPI is not finalised.
 * @note Collective over the pool. Blocks until all ranks have made the call. The pool's primary thread.
 */
STEELYARD_API steelyard_status_t steelyard_task_pool_free(steelyard_task_pool_t* pool);

/**
 * Spawns a task that this process owns. Other processes that are in a run may execute it at once.
 *
 * @param pool the pool
 * @param type index of its type
 * @param tag  any number; delivered with the result
 * @param data input of the task; copied. May be null if `size` is 0.
 * @param size bytes of `data`, at most STEELYARD_TASK_MAX_SIZE; each task may have another size
 * @return STEELYARD_SUCCESS. After an error no task was spawned.
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `pool` or `data` is null, the type is unknown, or the data are too large
 * @retval STEELYARD_ERROR_INVALID_STATE    called in a task: call steelyard_task_spawn() there
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    there is no memory for the data
 * @note Local. Does not block. The pool's primary thread: before a run, or in a consumer of results.
 */
STEELYARD_API steelyard_status_t steelyard_task_pool_spawn(steelyard_task_pool_t* pool, int type, uint64_t tag,
                                                           const void* data, size_t size);

/** The result of a task of this process. Owned by the pool, and void when the consumer has returned. */
typedef struct steelyard_task_result {
  uint64_t tag;              /**< tag of the task */
  int type;                  /**< type of the task */
  steelyard_status_t status; /**< STEELYARD_SUCCESS, or STEELYARD_ERROR_TASK_FAILED */
  const void* data;          /**< the result, aligned to 8 bytes; NULL if the task has failed */
  size_t size;               /**< bytes of `data`; 0 if the task has failed */
  const char* message;       /**< why the task has failed; otherwise NULL */
} steelyard_task_result_t;
/**
 * Takes a result. It must not throw: an exception ends the process (tasks.hpp catches exceptions of its consumers).
 *
 * @param result the result
 * @param user   as passed to steelyard_task_pool_run()
 */
typedef void (*steelyard_task_consumer_t)(const steelyard_task_result_t* result, void* user);

/**
 * Executes tasks until none is left in any process and all results are delivered. If a rank does not make the call, the
 * idle ranks of all nodes write a message that names it after 10 s, and go on waiting.
 *
 * @param pool     the pool
 * @param consumer gets each result as it arrives, in this thread, never in the middle of a task; it may spawn tasks.
 *                 NULL: results are dropped.
 * @param user     passed to the consumer
 * @return STEELYARD_SUCCESS, also if tasks have failed
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `pool` is null
 * @retval STEELYARD_ERROR_INVALID_STATE    called in a run, which goes on as if this call had not been made; or MPI is
 *                                          finalised
 * @retval STEELYARD_ERROR_PEER             a rank has freed the pool, called MPI_Finalize or died; the message names
 *                                          it. Told within about two seconds, or when the rank's task ends. Tasks
 *                                          may be left undone; the pool can only be freed.
 * @note Collective over the pool: all ranks call it equally often, with tasks of their own or without. Blocks until the
 *       run is over. The pool's primary thread.
 */
STEELYARD_API steelyard_status_t steelyard_task_pool_run(steelyard_task_pool_t* pool,
                                                         steelyard_task_consumer_t consumer, void* user);
/**
 * Executes tasks in a further thread of the process, until the run is over. If options.threads is more than 1, a run
 * consists of one call of steelyard_task_pool_run() by the pool's primary thread and up to threads - 1 calls of this
 * function by other threads. A run does not wait for missing helpers; a helper that comes when the run is over returns
 * at once. If no thread ever makes this call, a process of each node writes a warning after 10 s of runs, or when the
 * pool is freed:
 *
 *     #pragma omp parallel num_threads(options.threads)
 *     if (omp_get_thread_num() == 0) steelyard_task_pool_run(pool, keep, cells);
 *     else steelyard_task_pool_help(pool);
 *
 * @param pool the pool
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `pool` is null
 * @retval STEELYARD_ERROR_INVALID_STATE    the program calls it in more threads than options.threads
 * @note Local. Blocks until the run is over. Any thread other than the pool's primary thread.
 */
STEELYARD_API steelyard_status_t steelyard_task_pool_help(steelyard_task_pool_t* pool);

/* ---------------------------------------------------------------------------------------------- inside a task ----- */

/**
 * Sets the result of a task. The last call counts. Without a call the result has 0 bytes.
 *
 * @param task the task that runs
 * @param data the result; copied. May be null if `size` is 0.
 * @param size bytes of `data`. A result of more than STEELYARD_TASK_MAX_SIZE is a failure of the task.
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `task` or `data` is null
 * @retval STEELYARD_ERROR_INVALID_STATE    the task has ended
 * @note Local. Does not block. The thread that runs the task, in its function.
 */
STEELYARD_API steelyard_status_t steelyard_task_set_result(steelyard_task_t* task, const void* data, size_t size);
/**
 * Makes a task fail. Its owner gets a result with STEELYARD_ERROR_TASK_FAILED.
 *
 * @param task    the task that runs
 * @param message why it fails; copied. NULL or "": a text of the library's own
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `task` is null
 * @retval STEELYARD_ERROR_INVALID_STATE    the task has ended
 * @note Local. Does not block. The thread that runs the task, in its function.
 */
STEELYARD_API steelyard_status_t steelyard_task_fail(steelyard_task_t* task, const char* message);
/**
 * Spawns a further task. Its result is delivered to the owner of the task that runs.
 *
 * @param task the task that runs
 * @param type index of the new task's type
 * @param tag  any number; delivered with the result
 * @param data input of the new task; copied. May be null if `size` is 0.
 * @param size bytes of `data`, at most STEELYARD_TASK_MAX_SIZE
 * @return STEELYARD_SUCCESS. After an error no task was spawned.
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `task` or `data` is null, the type is unknown, or the data are too large
 * @retval STEELYARD_ERROR_INVALID_STATE    the task has ended
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    there is no memory for the data
 * @note Local. Does not block. The thread that runs the task, in its function.
 */
STEELYARD_API steelyard_status_t steelyard_task_spawn(steelyard_task_t* task, int type, uint64_t tag, const void* data,
                                                      size_t size);
/**
 * Serves requests of other nodes. To be called every few milliseconds by tasks that take longer. Inside a node it is
 * not needed.
 *
 * @param task the task that runs; ignored if it has ended
 * @note Local. Does not block. The thread that runs the task, in its function.
 */
STEELYARD_API void steelyard_task_yield(steelyard_task_t* task);

/* ---------------------------------------------------------------------------------------------- statistics -------- */

/** What this process has done since the pool was created. */
typedef struct steelyard_task_pool_statistics {
  uint64_t spawned;       /**< tasks spawned in this process */
  uint64_t executed;      /**< tasks executed in this process */
  uint64_t stolen_local;  /**< of these, spawned by another thread of the node */
  uint64_t stolen_remote; /**< of these, received from other nodes */
  uint64_t results_sent;  /**< results sent to other processes */
  uint64_t hops;          /**< transfers that these took */
  uint64_t messages;      /**< messages sent to other nodes */
  int connections; /**< processes of other nodes with which this one has communicated; with "groups", all for rank 0 */
  int degree;      /**< processes of other nodes with which it may communicate */
  uint64_t runs;   /**< runs */
  uint64_t termination_rounds; /**< rounds in which the end of a run was looked for */
  double busy_seconds;         /**< time in tasks, summed over threads, in s */
  double run_seconds;          /**< time in steelyard_task_pool_run(), in s */
  int threads;                 /**< threads of this process that execute tasks */
} steelyard_task_pool_statistics_t;
/**
 * Returns what this process has done since the pool was created.
 *
 * @param pool            the pool
 * @param[out] statistics its statistics
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null
 * @note Local. Does not block. The pool's primary thread, outside runs.
 */
STEELYARD_API steelyard_status_t steelyard_task_pool_get_statistics(const steelyard_task_pool_t* pool,
                                                                    steelyard_task_pool_statistics_t* statistics);

/* ---------------------------------------------------------------------------------------------- for other languages */

/**
 * How the processes of a pool communicate, for callers without mpi.h. Each function gets `self`. All are called by the
 * pool's primary thread, `pause` and `clock` by any thread. After steelyard_internal_task_pool_use_threads(), those for
 * messages are also called by a further thread, never two at the same time. A simulator maps `pause` and `clock` to its
 * own time.
 */
typedef struct steelyard_task_transport {
  void* self;
  int rank;           /**< rank of this process in the pool */
  int size;           /**< processes of the pool */
  int node_rank;      /**< rank among the processes that share memory with this one */
  int node_size;      /**< number of these */
  int ranks_per_node; /**< processes of the first node */
  /** For each rank the index of its node; nodes count from 0 in the order of their lowest rank. NULL if each node
   * has `ranks_per_node` consecutive ranks (the last node may have fewer). Copied. */
  const int* nodes;
  steelyard_status_t status; /**< STEELYARD_SUCCESS; otherwise the outcome of the call, and there is nothing to call */
  const char* message;       /**< message of another status than STEELYARD_SUCCESS; otherwise NULL */
  /** Collective over all, or with `in_node` over the node: copies `size` bytes of its first rank to the others. */
  void (*broadcast)(void* self, void* data, size_t size, int in_node);
  /** Collective over all: 1 if `mine` is 1 in all processes, otherwise 0. */
  int (*all_agree)(void* self, int mine);
  /** Starts a send; the data stay in place until `sent` has returned 1. Returns a slot, or -1 if all slots are in
   * use. */
  int (*send)(void* self, int to, const void* data, size_t size);
  /** 1 once, when the slot is free again; otherwise 0. */
  int (*sent)(void* self, int slot);
  /** 1 if a message has arrived, with its sender and its bytes: `receive` is called next. Otherwise 0. */
  int (*arrived)(void* self, int* from, size_t* size);
  /** Receives the message that has arrived. */
  void (*receive)(void* self, void* data, size_t size);
  /** Waits for `ns` nanoseconds; 0: for an event that is expected at once. NULL: the library waits. */
  void (*pause)(void* self, int64_t ns);
  /** The time in ns. NULL: the system's monotonic clock. */
  int64_t (*clock)(void* self);
  /** 1 if messages can still be sent; otherwise 0. */
  int (*open)(void* self);
  /** The last call. `clean` 0: messages may still be in transit. */
  void (*close)(void* self, int clean);
} steelyard_task_transport_t;
/**
 * steelyard_task_pool_create() over a transport.
 *
 * @param transport how the processes communicate; copied, and closed by steelyard_task_pool_free(), or at once if this
 *                  call fails
 * @param types     as for steelyard_task_pool_create()
 * @param count     as for steelyard_task_pool_create()
 * @param options   as for steelyard_task_pool_create()
 * @param[out] pool as for steelyard_task_pool_create()
 * @return as steelyard_task_pool_create()
 * @note Collective over the processes of the transport. Blocks. Any thread; it becomes the pool's primary thread.
 */
STEELYARD_API steelyard_status_t steelyard_task_pool_create_with_transport(const steelyard_task_transport_t* transport,
                                                                           const steelyard_task_type_t* types,
                                                                           int count,
                                                                           const steelyard_task_pool_options_t* options,
                                                                           steelyard_task_pool_t** pool);

/**
 * What only the program can do for a pool, since the library knows neither its MPI nor its exceptions. Called by
 * steelyard_task_pool_create().
 *
 * @param pool       a new pool; NULL is ignored
 * @param call       calls the function of a task and catches its exceptions; NULL: the library calls the function
 * @param world_rank the rank in MPI_COMM_WORLD of a rank of the pool, for messages; gets `self` of the transport. NULL:
 *                   the rank itself.
 */
STEELYARD_API void steelyard_internal_task_pool_callbacks(steelyard_task_pool_t* pool,
                                                          int (*call)(steelyard_task_function_t function,
                                                                      steelyard_task_t* task, void* context),
                                                          int (*world_rank)(void* self, int rank));

/** MPI may be called by any thread (MPI_THREAD_MULTIPLE): while the primary thread of this process executes a long
 * task, a further thread answers messages of other nodes. Called by steelyard_task_pool_create(). Local. */
STEELYARD_API void steelyard_internal_task_pool_use_threads(steelyard_task_pool_t* pool);

/** Leaves all pools that this process has not freed, with a warning, since other ranks may be in a run. Drops its
 * tasks that were not executed. Collective as steelyard_task_pool_free(). steelyard_task_pool_create() has
 * MPI_Finalize call it. */
STEELYARD_API void steelyard_internal_task_pools_finalize(void);

/** steelyard_task_pool_free() of *pool, which is NULL afterwards, unless it was not freed. */
STEELYARD_API steelyard_status_t steelyard_internal_task_pool_free(steelyard_task_pool_t** pool);

#ifdef __cplusplus
}
#endif
#ifndef STEELYARD_WITHOUT_MPI
#include "steelyard/detail/tasks_mpi.h"
#endif
#endif
