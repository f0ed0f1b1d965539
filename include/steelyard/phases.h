/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_PHASES_H
#define STEELYARD_PHASES_H
/**
 * @file
 * Phases: coupled libraries with different threading share a node.
 *
 * One part of a program runs best with a process on each core, another part with few processes of many threads. Such a
 * program starts a process on each core. Where the threaded part begins, some processes are chosen, are bound to more
 * cores and work with threads. The other processes sleep and use no CPU until the phase is over:
 *
 *     steelyard_node_t* node;
 *     steelyard_phase_t* wide;
 *     int chosen;
 *     steelyard_node_create(MPI_COMM_WORLD, &node);
 *     steelyard_phase_create(node, STEELYARD_NUMA, 1, &wide);    // one process per NUMA domain, with all its cores
 *     ...
 *     steelyard_phase_enter(wide, &chosen);
 *     if (chosen) threaded_library();
 *     steelyard_phase_leave(wide);
 *
 * The method is that of Gutierrez et al., "Accommodating Thread-Level Heterogeneity in Coupled Parallel Applications"
 * (IPDPS 2017), and its library QUO. docs/phases.md compares the two.
 *
 * Works with and without `steelyard run`, and with every MPI: the calls of MPI are compiled into the program. Link
 * `-lsteelyard`. If HWLOC_SYNTHETIC is set, the machine is emulated: bindings are noted, not made. Status and messages:
 * steelyard.h. A null handle is STEELYARD_ERROR_INVALID_ARGUMENT in each function.
 *
 * Threads: no function of this header is thread-safe. A process calls them from the one thread that runs its parallel
 * regions, outside of these.
 *
 * Collective calls: all processes of the node that share the handle make them in the same order. A process that waits
 * sleeps.
 * - If a process has died, the waiting processes write a message within two seconds and end the program with MPI_Abort.
 * - If a process does not make the call, the waiting processes write a message after 10 s, and go on waiting.
 * - If a process makes another collective call than the others, the call fails in all of them with
 *   STEELYARD_ERROR_MISMATCH. If some have returned from steelyard_phase_enter() already, their steelyard_phase_leave()
 *   returns the error.
 * - If a process has called MPI_Finalize, the call fails in the others with STEELYARD_ERROR_PEER.
 *
 * C99, and C++; phases.hpp has the same for C++17, the module `steelyard_phases` for Fortran 2018. Define
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

/** A context: the processes of one node that share a communicator. A program and its libraries may create any
 * number. */
typedef struct steelyard_node steelyard_node_t;
/** A part of the program that runs with fewer processes and more threads. Holds what it needs of its context. */
typedef struct steelyard_phase steelyard_phase_t;

/**
 * Types of resources of a machine. If a machine has no resource of a type (for example no L3 cache), the next type
 * above it in this list takes its place, and a warning is written once.
 */
typedef enum steelyard_resource {
  STEELYARD_MACHINE = 0,
  STEELYARD_PACKAGE = 1, /**< also called socket */
  STEELYARD_NUMA = 2,    /**< a NUMA domain */
  STEELYARD_L3 = 3,      /**< the cores that share an L3 cache */
  STEELYARD_CORE = 4,
  STEELYARD_PU = 5 /**< a hardware thread, which the kernel calls a CPU */
} steelyard_resource_t;

/** A set of CPUs, by the kernel's numbers. */
typedef struct steelyard_cpuset {
  /** CPU n is bit n % 64 of word n / 64. {{0}} is the empty set. */
  uint64_t words[64];
} steelyard_cpuset_t;

/**
 * Writes a set of CPUs as text, such as "0-3,8".
 *
 * @param cpuset    the set; NULL writes ""
 * @param[out] text where the text goes, ended by a null byte and cut if it is longer; NULL is ignored
 * @param size      bytes of `text`
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API void steelyard_cpuset_format(const steelyard_cpuset_t* cpuset, char* text, size_t size);

/* ---------------------------------------------------------------------------------------------- contexts ---------- */

#ifndef STEELYARD_WITHOUT_MPI
/**
 * Creates a context of the processes of this node that are in a communicator. Messages: one split of the communicator
 * by nodes, then two small operations inside each node. A process that waits for these yields its CPU.
 *
 * @param communicator an intra-communicator; not kept: the program may free it afterwards
 * @param[out] node    the context; the caller frees it with steelyard_node_free()
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `node` is null, or the communicator is MPI_COMM_NULL or an
 *                                          inter-communicator
 * @retval STEELYARD_ERROR_INVALID_STATE    MPI is not initialised, or finalised
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    shared memory in /dev/shm is exhausted
 * @retval STEELYARD_ERROR_SYSTEM           this process cannot open the shared memory
 * @retval STEELYARD_ERROR_PEER             another process of the node cannot get the shared memory
 * @retval STEELYARD_ERROR_MPI              MPI could not split the communicator
 * @pre MPI is initialised and not finalised.
 * @note Collective over `communicator`. Blocks until all its processes have made the call. Not thread-safe.
 */
static inline steelyard_status_t steelyard_node_create(MPI_Comm communicator, steelyard_node_t** node);

/**
 * Splits a communicator into the processes that are bound to the same resource now (steelyard_node_find_closest()).
 *
 * @param node         the context
 * @param communicator an intra-communicator
 * @param resource     type of the resource
 * @param[out] part    the communicator of the processes at this one's resource; the caller frees it with MPI_Comm_free.
 *                     On failure MPI_COMM_NULL.
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, or the type is unknown
 * @retval STEELYARD_ERROR_MPI              MPI could not split the communicator
 * @pre MPI is initialised and not finalised.
 * @note Collective over `communicator`. Blocks until all its processes have made the call. Not thread-safe.
 */
static inline steelyard_status_t steelyard_node_split(const steelyard_node_t* node, MPI_Comm communicator,
                                                      steelyard_resource_t resource, MPI_Comm* part);
#endif

/**
 * Frees a context, before or after its phases, before or after MPI_Finalize. Pops the bindings that it has pushed.
 *
 * @param node the context; NULL is ignored
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API void steelyard_node_free(steelyard_node_t* node);

/**
 * Returns the number of processes of this node in the context.
 *
 * @param node the context
 * @return the number of processes; 0 if `node` is null
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API int steelyard_node_size(const steelyard_node_t* node);
/**
 * Returns the number of this process in the context. Other processes are named by their numbers, too.
 *
 * @param node the context
 * @return 0 to steelyard_node_size() - 1; 0 if `node` is null
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API int steelyard_node_rank(const steelyard_node_t* node);

/* ---------------------------------------------------------------------------------------------- queries ----------- */

/**
 * Counts the resources of a type on this node.
 *
 * @param node       the context
 * @param resource   type of the resources
 * @param[out] count their number; 0 if the machine has none of this type
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, or the type is unknown
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_count_resources(const steelyard_node_t* node,
                                                                steelyard_resource_t resource, int* count);
/**
 * Counts the resources of a type inside another resource: for example the cores of a package.
 *
 * @param node       the context
 * @param outer      type of the resource that contains them
 * @param index      which of that type, from 0
 * @param inner      type of the resources to be counted
 * @param[out] count their number
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, a type is unknown, or there is no such resource
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_count_resources_in(const steelyard_node_t* node,
                                                                   steelyard_resource_t outer, int index,
                                                                   steelyard_resource_t inner, int* count);
/**
 * Returns the CPUs of a resource.
 *
 * @param node        the context
 * @param resource    type of the resource
 * @param index       which of that type, from 0
 * @param[out] cpuset its CPUs
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, the type is unknown, or there is no such resource
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_get_cpuset(const steelyard_node_t* node, steelyard_resource_t resource,
                                                           int index, steelyard_cpuset_t* cpuset);
/**
 * Returns the processes that were bound within a resource when the context was created.
 *
 * @param node           the context
 * @param resource       type of the resource
 * @param index          which of that type, from 0
 * @param[out] processes the first `capacity` of them, by their numbers in the context; NULL is ignored
 * @param capacity       elements of `processes`
 * @param[out] count     how many there are
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `node` or `count` is null, the type is unknown, or there is no such resource
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_get_processes(const steelyard_node_t* node,
                                                              steelyard_resource_t resource, int index, int* processes,
                                                              int capacity, int* count);
/**
 * Finds the resource that contains most of the CPUs to which the calling thread is bound now.
 *
 * @param node       the context
 * @param resource   type of the resource
 * @param[out] index which of that type, from 0
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, or the type is unknown
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_find_closest(const steelyard_node_t* node,
                                                             steelyard_resource_t resource, int* index);

/** A process of the node. */
typedef struct steelyard_process_info {
  int rank;                          /**< in the communicator of the context */
  int pid;                           /**< process ID */
  int bound;                         /**< 1 if `initial_cpuset` leaves out a CPU of the machine, otherwise 0 */
  steelyard_cpuset_t initial_cpuset; /**< affinity mask when the context was created */
  steelyard_cpuset_t current_cpuset; /**< affinity mask now, as the kernel reports it */
} steelyard_process_info_t;
/**
 * Returns what is known about a process of the node.
 *
 * @param node      the context
 * @param process   number of the process in the context, from 0
 * @param[out] info the process
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, or there is no such process
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_get_process(const steelyard_node_t* node, int process,
                                                            steelyard_process_info_t* info);

/** The machine of this node. */
typedef struct steelyard_machine_info {
  int threads_per_core;              /**< hardware threads of a core, at most */
  int cpu_kinds;                     /**< kinds of cores; 1 if all cores are alike */
  int emulated;                      /**< 1 if the machine is emulated: bindings are noted, not made; otherwise 0 */
  double cpu_quota;                  /**< CPUs that the cgroup allows at a time; 0 if it sets no limit */
  steelyard_cpuset_t allowed_cpuset; /**< CPUs that the cgroup allows */
  steelyard_cpuset_t job_cpuset;     /**< CPUs given to the processes of this context: no binding goes beyond them */
} steelyard_machine_info_t;
/**
 * Returns what is known about the machine of this node.
 *
 * @param node      the context
 * @param[out] info the machine
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_get_machine(const steelyard_node_t* node,
                                                            steelyard_machine_info_t* info);
/**
 * Returns the kind of the core of a CPU, on machines with different cores.
 *
 * @param node      the context
 * @param cpu       the kernel's number of the CPU
 * @param[out] kind 0 for the most energy-efficient kind, up to cpu_kinds - 1
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, or the job has no such CPU
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_get_cpu_kind(const steelyard_node_t* node, int cpu, int* kind);

/* ---------------------------------------------------------------------------------------------- bindings ---------- */

/** Thread counts of the parallel regions between a push and its pop, besides the numbers from 1. */
enum {
  STEELYARD_THREADS_KEEP = -1,       /**< the thread count stays as it is */
  STEELYARD_THREADS_ONE_PER_CORE = 0 /**< one thread for each core of the set */
};

/**
 * Binds the calling thread and its OpenMP workers to a set of CPUs, until the pop. Pushes and pops nest: each process
 * has one stack, of which a context pops only its own pushes. The binding is the part of the set that lies in the job's
 * CPUs (steelyard_node_get_machine()).
 *
 * @param node    the context
 * @param cpuset  CPUs to bind to; copied
 * @param threads threads of the next parallel regions: a number from 1, STEELYARD_THREADS_KEEP or
 *                STEELYARD_THREADS_ONE_PER_CORE
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, `threads` is below -1, or the set has no CPU of the job
 * @retval STEELYARD_ERROR_SYSTEM           the kernel refuses the binding
 * @pre Outside parallel regions.
 * @note Local. Does not block on other processes; runs a parallel region if the process has OpenMP workers. Not
 *       thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_binding_push_cpuset(steelyard_node_t* node, const steelyard_cpuset_t* cpuset,
                                                               int threads);
/**
 * steelyard_binding_push_cpuset() with the CPUs of a resource.
 *
 * @param node     the context
 * @param resource type of the resource
 * @param index    which of that type, from 0
 * @param threads  as for steelyard_binding_push_cpuset()
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `node` is null, `threads` is below -1, there is no such resource, or it has
 *                                          no CPU of the job
 * @retval STEELYARD_ERROR_SYSTEM           the kernel refuses the binding
 * @pre Outside parallel regions.
 * @note As steelyard_binding_push_cpuset().
 */
STEELYARD_API steelyard_status_t steelyard_binding_push_resource(steelyard_node_t* node, steelyard_resource_t resource,
                                                                 int index, int threads);
/**
 * steelyard_binding_push_cpuset() with the smallest resource that contains all CPUs to which the calling thread is
 * bound now, so that its data stay near. If no resource of the type contains them, the next type above is taken.
 *
 * @param node     the context
 * @param resource type of the resource
 * @param threads  as for steelyard_binding_push_cpuset()
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `node` is null, `threads` is below -1, or the type is unknown
 * @retval STEELYARD_ERROR_SYSTEM           the kernel refuses the binding
 * @pre Outside parallel regions.
 * @note As steelyard_binding_push_cpuset().
 */
STEELYARD_API steelyard_status_t steelyard_binding_push_enclosing(steelyard_node_t* node, steelyard_resource_t resource,
                                                                  int threads);
/**
 * Restores binding and thread count as they were before this context's last push.
 *
 * @param node the context
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_STATE this context has pushed nothing; another context has pushed since; or the push
 *                                       was made before the phase that is entered now, or by it
 * @retval STEELYARD_ERROR_SYSTEM        the kernel refuses the binding
 * @pre Outside parallel regions.
 * @note As steelyard_binding_push_cpuset().
 */
STEELYARD_API steelyard_status_t steelyard_binding_pop(steelyard_node_t* node);

/* ---------------------------------------------------------------------------------------------- parts of a phase -- */

/**
 * Chooses processes for each resource of a type. Processes that were bound within a resource when the context was
 * created come first for it; other processes fill the remaining places evenly. All processes get the same answer,
 * without a message.
 *
 * @param node          the context
 * @param resource      type of the resources
 * @param max_processes processes for each resource, at most; from 1
 * @param[out] chosen   1 if this process is chosen, otherwise 0
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, the type is unknown, or `max_processes` is below 1
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_distribute(const steelyard_node_t* node, steelyard_resource_t resource,
                                                           int max_processes, int* chosen);
/**
 * Waits until all processes of the node have made the call. For short waits: a process may spin or yield for up to 0.1
 * ms before it sleeps.
 *
 * @param node the context
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_STATE a phase of this context is entered
 * @retval STEELYARD_ERROR_MISMATCH      another process has made another collective call
 * @retval STEELYARD_ERROR_PEER          another process has called MPI_Finalize
 * @note Collective over the node. Blocks. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_barrier(steelyard_node_t* node);
/**
 * steelyard_node_barrier() for processes that have nothing to do until others reach the barrier: sleeps at once. Some
 * processes may call this function while others call steelyard_node_barrier().
 *
 * @param node the context
 * @return as steelyard_node_barrier()
 * @note Collective over the node. Blocks. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_quiesce(steelyard_node_t* node);

/* ---------------------------------------------------------------------------------------------- phases ------------ */

/**
 * Creates a phase in which chosen processes work, as steelyard_node_distribute() chooses them. Their threads share the
 * cores of the resource, one thread per core.
 *
 * @param node          the context; it may be freed before the phase
 * @param resource      type of the resources
 * @param max_processes processes for each resource, at most; from 1
 * @param[out] phase    the phase; the caller frees it with steelyard_phase_free()
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, the type is unknown, or `max_processes` is below 1
 * @pre All processes of the node pass the same arguments.
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_phase_create(steelyard_node_t* node, steelyard_resource_t resource,
                                                        int max_processes, steelyard_phase_t** phase);

/** Limits of what an autotuned phase tries. */
typedef struct steelyard_phase_bounds {
  int min_processes; /**< processes of the node that work, at least; from 1 */
  int max_processes; /**< processes of the node that work, at most; 0: all */
  int max_threads;   /**< threads of a process, at most; 0: one for each core */
  int min_threads;   /**< from 1: half of them, a quarter, and so on are tried as well, down to this number; 0: not */
} steelyard_phase_bounds_t;
/** Initialiser of steelyard_phase_bounds_t: each number of processes, with one thread for each core. */
#define STEELYARD_PHASE_BOUNDS_DEFAULT {1, 0, 0, 0}

/**
 * Creates a phase that finds the fastest number of processes and threads by measurement. It tries each configuration in
 * its first runs and measures it from the last arrival at steelyard_phase_enter() to the last arrival at
 * steelyard_phase_leave(). Later runs compare the fastest with its nearest rivals; when its time changes, all are
 * compared again. Runs in a slower configuration cost at most 1 % of the phase's time, plus the first run of each
 * configuration and ten runs of the phase. Each node chooses for itself. The work of the phase must not depend on which
 * processes are chosen: ask steelyard_phase_get_configuration(), or pass data through steelyard_phase_gather() and
 * steelyard_phase_scatter().
 *
 * @param node       the context; it may be freed before the phase
 * @param bounds     limits; NULL: STEELYARD_PHASE_BOUNDS_DEFAULT
 * @param[out] phase the phase; the caller frees it with steelyard_phase_free()
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null, a bound is negative, or no configuration lies within the
 *                                          bounds
 * @pre All processes of the node pass the same bounds.
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_phase_create_autotuned(steelyard_node_t* node,
                                                                  const steelyard_phase_bounds_t* bounds,
                                                                  steelyard_phase_t** phase);
/**
 * Frees a phase. A phase that is still entered is left, with a warning: the other processes sleep until all have left
 * it.
 *
 * @param phase the phase; NULL is ignored
 * @note Local. Does not block, unless the phase is entered: then as steelyard_phase_leave(). Not thread-safe.
 */
STEELYARD_API void steelyard_phase_free(steelyard_phase_t* phase);

/**
 * Enters a phase. A chosen process returns when all processes have entered, bound to its resource and with its thread
 * count set. Any other process returns at once and should call steelyard_phase_leave(). All processes must leave the
 * phase; until then every other collective call of this context fails. MPI_Finalize leaves a phase that is still
 * entered, with a warning.
 *
 * @param phase       the phase
 * @param[out] chosen 1 if this process works, otherwise 0
 * @return STEELYARD_SUCCESS. After an error the phase is not entered.
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null
 * @retval STEELYARD_ERROR_INVALID_STATE    a phase of this context is entered
 * @retval STEELYARD_ERROR_MISMATCH         another process has made another collective call
 * @retval STEELYARD_ERROR_PEER             another process has called MPI_Finalize
 * @pre Outside parallel regions.
 * @note Collective over the node. A chosen process blocks until all have entered. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_phase_enter(steelyard_phase_t* phase, int* chosen);
/**
 * Leaves a phase, with the binding and thread count as before. Processes that are not chosen sleep here.
 *
 * @param phase the phase
 * @return STEELYARD_SUCCESS. After STEELYARD_ERROR_MISMATCH and STEELYARD_ERROR_PEER the phase is left, too.
 * @retval STEELYARD_ERROR_INVALID_STATE the phase was not entered; or bindings that were pushed in the phase were not
 *                                       popped: then they are popped and the phase is left
 * @retval STEELYARD_ERROR_MISMATCH      another process has not entered the phase, but has made another collective call
 * @retval STEELYARD_ERROR_PEER          another process has called MPI_Finalize
 * @pre Outside parallel regions.
 * @note Collective over the node. Blocks until the chosen processes have left. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_phase_leave(steelyard_phase_t* phase);

/** How a phase runs next. */
typedef struct steelyard_phase_configuration {
  int processes; /**< processes of the node that work */
  int threads;   /**< threads of this process's leader */
  int settled; /**< 1: the next run is not a trial; 0: an autotuned phase compares configurations. May become 0 again */
  int chosen;  /**< 1 if this process works, otherwise 0 */
  int leader;  /**< the process that works for this one, by its number in the context; itself if it is chosen */
  double seconds; /**< typical time of the phase in this configuration, in s; 0 if it was not measured */
} steelyard_phase_configuration_t;
/**
 * Tells how a phase runs next. While it is entered, that is the present run; from steelyard_phase_leave() on, the
 * following one.
 *
 * @param phase              the phase
 * @param[out] configuration its configuration
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a pointer is null
 * @note Local. Does not block. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_phase_get_configuration(const steelyard_phase_t* phase,
                                                                   steelyard_phase_configuration_t* configuration);

/**
 * Data in the node's shared memory: one part for each of some processes, one after the other without gaps. All that it
 * points to is owned by the phase.
 */
typedef struct steelyard_view {
  void* data;           /**< begin of the first part */
  int parts;            /**< number of parts */
  const size_t* sizes;  /**< bytes of each part */
  const int* processes; /**< the process that each part belongs to, by its number in the context */
} steelyard_view_t;

/**
 * Brings data of each process to its leader. At the leader, `all` has one part for each of its processes, itself
 * included, in ascending order. The leader may read and change the data in place until the next gather of this context.
 * At the other processes `all` has no parts. The data are copied once.
 *
 * @param phase    the phase
 * @param data     this process's data; NULL: none
 * @param size     bytes of `data`; any number, which may differ between processes and calls
 * @param[out] all the data of the leader's processes; owned by the phase
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `phase` or `all` is null
 * @retval STEELYARD_ERROR_INVALID_STATE    the phase is entered: gather before
 * @retval STEELYARD_ERROR_MISMATCH         another process has made another collective call
 * @retval STEELYARD_ERROR_PEER             another process has called MPI_Finalize
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    shared memory in /dev/shm is exhausted, in any process of the node
 * @note Collective over the node. Blocks until all have made the call. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_phase_gather(steelyard_phase_t* phase, const void* data, size_t size,
                                                        steelyard_view_t* all);
/**
 * Brings data from each leader back to its processes, in the order of the leader's last gather with this phase. Without
 * a gather, the leaders are those of the last run. The data are copied once; they are not copied if `data` are those
 * that were gathered.
 *
 * @param phase     the phase
 * @param data      at a leader: the data of its processes, one part after the other, NULL: none; ignored elsewhere
 * @param sizes     at a leader: bytes for each of its processes; ignored elsewhere
 * @param[out] mine this process's part; owned by the phase, and valid until the next scatter of this context (until the
 *                  next gather, if the data were not copied)
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `phase` or `mine` is null, or the sizes exceed the gathered data
 * @retval STEELYARD_ERROR_INVALID_STATE    the phase is entered: scatter after it
 * @retval STEELYARD_ERROR_MISMATCH         another process has made another collective call
 * @retval STEELYARD_ERROR_PEER             another process has called MPI_Finalize
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    shared memory in /dev/shm is exhausted, in any process of the node
 * @note Collective over the node. Blocks until all have made the call. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_phase_scatter(steelyard_phase_t* phase, const void* data,
                                                         const size_t* sizes, steelyard_view_t* mine);

/* ---------------------------------------------------------------------------------------------- for other languages */

/**
 * How the processes of a node communicate while a context is created, for callers without mpi.h. Each function gets
 * `self`.
 */
typedef struct steelyard_node_transport {
  void* self;
  int rank;                  /**< among the processes of this node */
  int size;                  /**< processes of this node */
  int rank_in_communicator;  /**< rank of this process in the whole communicator */
  steelyard_status_t status; /**< STEELYARD_SUCCESS; otherwise the outcome of the call, and there is nothing to call */
  const char* message;       /**< message of another status than STEELYARD_SUCCESS; otherwise NULL */
  /** Collective: copies `size` bytes of rank 0 to the others. */
  void (*broadcast)(void* self, void* data, size_t size);
  /** Collective: 1 if `mine` is 1 in all processes, otherwise 0. */
  int (*all_agree)(void* self, int mine);
  /** Ends the program. May be called at any later time. */
  void (*abort)(void);
} steelyard_node_transport_t;
/**
 * steelyard_node_create() over a transport.
 *
 * @param transport how the processes communicate; not kept, except for `abort`
 * @param[out] node as for steelyard_node_create()
 * @return as steelyard_node_create()
 * @note Collective over the processes of the node. Blocks. Not thread-safe.
 */
STEELYARD_API steelyard_status_t steelyard_node_create_with_transport(const steelyard_node_transport_t* transport,
                                                                      steelyard_node_t** node);
/** A number for this node, from 0. Two nodes have the same number with a probability of 2^-31. */
STEELYARD_API int steelyard_internal_node_id(void);
/** Yields the CPU, for longer with each turn of a loop that waits; `turn` counts from 0. */
STEELYARD_API void steelyard_internal_pause(int turn);
/** Tells the rank of this process in MPI_COMM_WORLD, for messages. steelyard_node_create() calls it. */
STEELYARD_API void steelyard_internal_set_world_rank(int rank);
/** Stores the message of the calling thread, `length` bytes of it, cut at 511. */
STEELYARD_API void steelyard_internal_set_message(const char* message, size_t length);
/** Leaves each phase that this process has entered and not left, with a warning. From then on the collective calls
 * of its contexts fail at the other processes. steelyard_node_create() has MPI_Finalize call it. */
STEELYARD_API void steelyard_internal_phases_finalize(void);

#ifdef __cplusplus
}
#endif
#ifndef STEELYARD_WITHOUT_MPI
#include "steelyard/detail/phases_mpi.h"
#endif
#endif
