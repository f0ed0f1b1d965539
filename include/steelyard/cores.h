/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_CORES_H
#define STEELYARD_CORES_H
/**
 * @file
 * Cores: a program whose threads are not OpenMP's lends cores to other ranks of its node, and uses idle ones.
 *
 * For ranks that compute in a pool of std::thread, in TBB, in Kokkos' threads or in OmpSs. Steelyard cannot set their
 * thread counts, so the program asks on which CPUs it may run, and sizes its pool itself:
 *
 *     steelyard_cores_init(0);                               // before MPI_Init: all cores of the affinity mask
 *     ...
 *     steelyard_cores_acquire(64, NULL);                     // what the other ranks of the node do not need now
 *     steelyard_cores_get(cpus, 4096, &count);
 *     run_pool(work, cpus, count);                           // a thread on each of them
 *     MPI_Allreduce(...);                                    // returns what was acquired
 *
 * Ranks that compute in OpenMP regions need none of this, and get lent cores by themselves (docs/cores.md). They also
 * borrow the cores that another rank lends by steelyard_cores_lend().
 *
 * Takes effect under `steelyard run`. If no core can move at this rank, all functions succeed: no core is lent or
 * acquired, and steelyard_cores_get() returns the affinity mask of the calling thread. steelyard_cores_movable() says
 * why. From the first call of a function of this header on, except steelyard_cores_movable(), no plan of Steelyard
 * changes the cores of this rank, and its OpenMP regions keep the thread count of the program.
 *
 * A core that is acquired lies outside of the affinity mask that the launcher gave this rank, and that its threads
 * inherit. So bind the threads of the pool to the CPUs that steelyard_cores_get() returns.
 *
 * Threads: all functions are for the primary thread (the thread that called MPI_Init), outside of parallel regions.
 * None is called, and no callback runs, in any other thread or in a signal handler. docs/cores-api.md has an example,
 * and a table for programs that use DLB.
 *
 * C99, and C++. Link `-lsteelyard`.
 */
#include "steelyard/steelyard.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Says before MPI_Init how many threads this rank runs. Steelyard sees the threads of OpenMP alone: without this call,
 * a program without OpenMP has one core on each rank.
 *
 * @param cores threads of this rank, one for each core; 0: as many as there are cores in its affinity mask, which ranks
 *              with the same mask share evenly
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `cores` is negative
 * @retval STEELYARD_ERROR_INVALID_STATE    called after MPI_Init
 * @note Local. Does not block. The thread that calls MPI_Init, before that.
 */
STEELYARD_API steelyard_status_t steelyard_cores_init(int cores);

/**
 * Tells whether cores can move between this rank and the other ranks of its node now.
 *
 * @return 1 if they can; otherwise 0, and steelyard_message() says why not: the program was not started under
 *         `steelyard run`, `--cores=off`, one rank on the node, a phase (phases.h)
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API int steelyard_cores_movable(void);

/**
 * Returns the CPUs on which this rank may run threads now, one for each core.
 *
 * @param[out] cpus  the kernel's numbers of CPUs, those of the rank's own cores first; NULL if `capacity` is 0
 * @param capacity   the largest number of CPUs that is written to `cpus`
 * @param[out] count how many CPUs there are, which may be more than `capacity`; at least 1
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `count` is null, `capacity` is negative, or `cpus` is null and `capacity`
 *                                          is not 0
 * @retval STEELYARD_ERROR_INVALID_STATE    called by another thread or inside a parallel region
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_cores_get(int* cpus, int capacity, int* count);

/**
 * Lends cores of this rank to other ranks of the node, until steelyard_cores_reclaim(). The rank keeps at least one
 * core. The cores lent are the last of its own that steelyard_cores_get() returned: no thread of the program may run
 * on them any longer.
 *
 * @param cores     how many to lend, beside those that are lent already
 * @param[out] lent how many were lent; NULL if that is not needed
 * @return STEELYARD_SUCCESS, even if none could be lent
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `cores` is negative
 * @retval STEELYARD_ERROR_INVALID_STATE    called by another thread or inside a parallel region
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_cores_lend(int cores, int* lent);

/**
 * Takes back all cores of this rank that are lent. Cores that another rank uses come later: an OpenMP rank returns them
 * at the end of its parallel region, another rank at its steelyard_cores_poll(). This rank's steelyard_cores_poll()
 * then takes them.
 *
 * @param[out] missing how many cores of this rank others still use; NULL if that is not needed
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_STATE called by another thread or inside a parallel region
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_cores_reclaim(int* missing);

/**
 * Acquires cores of other ranks of the node: those that are lent by steelyard_cores_lend(), and those of ranks that
 * wait in MPI for this rank. The cores are this rank's until steelyard_cores_release(), its next blocking MPI call or
 * its next OpenMP region: no thread of the program may run on them any longer then. With `--lending=off`, MPI calls
 * return no cores. If the owner needs its cores before, steelyard_cores_poll() returns them.
 *
 * @param cores         how many to acquire at most, beside those that are acquired already
 * @param[out] acquired how many were acquired; NULL if that is not needed
 * @return STEELYARD_SUCCESS, even if none could be acquired
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `cores` is negative
 * @retval STEELYARD_ERROR_INVALID_STATE    called by another thread or inside a parallel region
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_cores_acquire(int cores, int* acquired);

/**
 * Returns all cores that this rank has acquired. No thread of the program may run on them any longer.
 *
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_STATE called by another thread or inside a parallel region
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_cores_release(void);

/**
 * Is told the CPUs on which the program may run from now on. Called by steelyard_cores_poll() alone. When it returns,
 * no thread of the program may run on other CPUs. It must not call functions of this header, and throw nothing.
 *
 * @param cpus  as steelyard_cores_get() returns them; valid during the call
 * @param count how many
 * @param data  as given to steelyard_cores_on_change()
 */
typedef void (*steelyard_cores_callback_t)(const int* cpus, int count, void* data);

/**
 * Sets the callback of steelyard_cores_poll(), in place of an earlier one.
 *
 * @param callback the function; NULL for none
 * @param data     what it is passed
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_STATE called by another thread or inside a parallel region
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_cores_on_change(steelyard_cores_callback_t callback, void* data);

/**
 * A point at which the program can change its threads. Takes own cores that have come free. If the CPUs differ from
 * those that the last steelyard_cores_get() or callback has told, calls the callback. Then returns the cores that their
 * owners have asked for. Without a callback, call steelyard_cores_get() after each steelyard_cores_poll().
 *
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_STATE called by another thread or inside a parallel region, or by the callback
 * @note Local. Does not block. Primary thread only, outside parallel regions. If nothing has changed, a call costs less
 *       than a microsecond.
 */
STEELYARD_API steelyard_status_t steelyard_cores_poll(void);

#ifdef __cplusplus
}
#endif
#endif
