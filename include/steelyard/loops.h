/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_LOOPS_H
#define STEELYARD_LOOPS_H
/**
 * @file
 * Loops: the threads of a parallel region share the iterations of a loop, with low overhead and good locality. Used in
 * place of `#pragma omp for`, inside a parallel region:
 *
 *     #pragma omp parallel
 *     {
 *       steelyard_iterations_t mine;
 *       steelyard_loop_begin(NULL, 0, n, 1, &mine);
 *       while (steelyard_loop_next(&mine))
 *         for (int64_t i = mine.begin; i < mine.end; ++i) y[i] = f(i);
 *       steelyard_loop_end(&mine);
 *       #pragma omp barrier            // if the code that follows reads all of y
 *     }
 *
 * Each iteration runs exactly once. Each thread begins with a part of its own, the same in each execution, so that its
 * data stay in its cache and in its memory. A thread that has finished its part takes iterations from the threads that
 * have not, the nearest first. Steelyard learns from execution to execution how to divide each loop. Two calls of
 * steelyard_loop_begin() in the program are two loops, unless they name the same handle.
 *
 * The strategies are those of Kale, "Composing Low-Overhead Scheduling Strategies for Improving Performance of
 * Scientific Applications on Clusters of SMPs" (2015), under the names of that work without "Sched". docs/loops.md
 * describes each.
 *
 * Works with and without `steelyard run`, with and without MPI, with the OpenMP runtimes of LLVM and GNU. Link
 * `-lsteelyard`. What a program leaves open is taken from the options (`steelyard options`; for example
 * STEELYARD_LOOPS=static). Status and messages: steelyard.h.
 *
 * Order of calls: all threads of the region call steelyard_loop_begin(), steelyard_loop_next() and steelyard_loop_end()
 * for the same loops in the same order, as for `#pragma omp for nowait`. There is no barrier at the end. If a region is
 * cancelled (`#pragma omp cancel parallel`), a thread that leaves it before a loop that another thread has begun stays
 * one loop behind in all later regions: iterations then run twice, or a thread waits for ever. End a loop early with
 * steelyard_loop_cancel(), or create the loop's handle anew after such a region, outside of it.
 *
 * C99, and C++; loops.hpp has for_each and reduce for C++17, the module `steelyard_loops` is for Fortran 2018.
 */
#include <stddef.h>
#include <stdint.h>

#include "steelyard/steelyard.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A loop of the program, with what was learnt about it. Needed only to name a loop, to choose its strategy or to tie it
 * to another loop. One team of threads executes it at a time.
 */
typedef struct steelyard_loop steelyard_loop_t;

/** How a loop is divided. A member that is 0 or NULL leaves the decision to the options. */
typedef struct steelyard_loop_options {
  /** "auto", "static", "guided", "factoring", "steal", "adaptive", or "hybrid" followed by any of "+tuned", "+slack"
   * and "+staggered"; "tuned", "slack", "staggered" and "combined" are short names of such combinations. NULL: the
   * option `loops`, by default "auto". Copied. Strategies with slack need `steelyard run`, which measures how long a
   * process waits in MPI. */
  const char* strategy;
  /** Static part of the iterations for "hybrid" without "+tuned", above 0 and up to 1; 0: the option
   * `loops-static-percent`. For no static part use "factoring" or "steal". */
  double static_fraction;
  /** Iterations that a thread takes at a time, at least; 0: the option `loops-chunk`, by default from measurements. */
  uint64_t chunk_size;
} steelyard_loop_options_t;
/** Initialiser of steelyard_loop_options_t: all members from the options. */
#define STEELYARD_LOOP_OPTIONS_DEFAULT {NULL, 0, 0}

/**
 * Creates a loop.
 *
 * @param name      name under which the loop is found again in a later run (steelyard_loops_load()); copied. NULL: the
 *                  place of this call in the program.
 * @param options   how it is divided; copied. NULL: STEELYARD_LOOP_OPTIONS_DEFAULT.
 * @param[out] loop the loop; the caller frees it with steelyard_loop_free()
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `loop` is null, the strategy is unknown, or the fraction is not in 0..1
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    there is no memory for it
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API steelyard_status_t steelyard_loop_create(const char* name, const steelyard_loop_options_t* options,
                                                       steelyard_loop_t** loop);
/**
 * Frees a loop. What was learnt about it is kept under its name.
 *
 * @param loop the loop; NULL is ignored
 * @pre No thread executes the loop.
 * @note Local. Does not block. Any thread.
 */
STEELYARD_API void steelyard_loop_free(steelyard_loop_t* loop);
/**
 * Changes the options of a loop, from its next execution on.
 *
 * @param loop    the loop
 * @param options the new options; copied. NULL: STEELYARD_LOOP_OPTIONS_DEFAULT.
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `loop` is null, the strategy is unknown, or the fraction is not in 0..1
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API steelyard_status_t steelyard_loop_set_options(steelyard_loop_t* loop,
                                                            const steelyard_loop_options_t* options);
/**
 * Ties two loops over the same data: where their parts follow the load, both are divided alike, by the sum of their
 * loads, so that a thread finds its data in its cache.
 *
 * @param loop  a loop
 * @param other the loop that it is tied to
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT a loop is null
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API steelyard_status_t steelyard_loop_tie(steelyard_loop_t* loop, steelyard_loop_t* other);

/**
 * One thread's execution of a loop, and the iterations that it is to run now. On the thread's stack. Must not be copied
 * or moved between steelyard_loop_begin() and steelyard_loop_end().
 */
typedef struct steelyard_iterations {
  /** The iterations to run, after steelyard_loop_next() has returned 1: for (i = begin; i < end; i += stride), or i
   * > end if the stride is negative. */
  int64_t begin, end, stride;
  struct {
    void *seat, *member;
    uint64_t start, end, count, check;
    int inclusive, status;
  } internal; /**< private to the library */
} steelyard_iterations_t;

/**
 * Begins an execution of the loop for (i = begin; i < end; i += stride), or i > end if the stride is negative. Outside
 * parallel regions the calling thread gets all iterations.
 *
 * If the call fails, there are no iterations: steelyard_loop_next() returns 0 and steelyard_loop_end() returns the same
 * error.
 *
 * @param loop            the loop; NULL: the loop at this place of the program
 * @param begin           first iteration
 * @param end             bound of the iterations, not included
 * @param stride          distance between two iterations, not 0
 * @param[out] iterations the thread's execution; owned by the caller
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `iterations` is null, or the loop has no end (stride 0, or 2^64 iterations)
 * @retval STEELYARD_ERROR_MISMATCH         the other threads of the team execute another loop here, or other bounds
 * @retval STEELYARD_ERROR_INVALID_STATE    another team executes the loop now; or this thread has not ended its last
 *                                          execution of it: then both executions are given up, in all threads
 * @retval STEELYARD_ERROR_UNSUPPORTED      an OpenMP runtime that is linked statically does not tell which threads are
 *                                          in a team: the first thread of the process gets all iterations, the others
 *                                          this error
 * @pre All threads of the region call it, in the same order of loops.
 * @note Local. Returns at once, unless this thread is four loops ahead of another thread of its team: then it waits for
 *       that thread. Any thread.
 */
STEELYARD_API steelyard_status_t steelyard_loop_begin(steelyard_loop_t* loop, int64_t begin, int64_t end,
                                                      int64_t stride, steelyard_iterations_t* iterations);
/**
 * steelyard_loop_begin() for unsigned 64-bit bounds. Cast iterations.begin and iterations.end to uint64_t.
 *
 * @param loop            as for steelyard_loop_begin()
 * @param begin           first iteration
 * @param end             bound of the iterations, not included
 * @param stride          distance between two iterations, not 0; may be negative
 * @param[out] iterations as for steelyard_loop_begin()
 * @return as steelyard_loop_begin()
 * @pre As for steelyard_loop_begin().
 * @note As steelyard_loop_begin().
 */
STEELYARD_API steelyard_status_t steelyard_loop_begin_unsigned(steelyard_loop_t* loop, uint64_t begin, uint64_t end,
                                                               int64_t stride, steelyard_iterations_t* iterations);
/**
 * Gets the next iterations of this thread. Costs about 15 ns.
 *
 * @param iterations the thread's execution; its members begin, end and stride are set
 * @return 1: there are iterations to run; 0: none are left, or the call was wrong, and steelyard_loop_end() returns the
 *         error
 * @pre Between steelyard_loop_begin() and steelyard_loop_end().
 * @note Local. Does not block. The thread that has begun the execution.
 */
STEELYARD_API int steelyard_loop_next(steelyard_iterations_t* iterations);
/**
 * Ends an execution. If steelyard_loop_next() has not returned 0 before, the rest of the loop is given up in all
 * threads. There is no barrier: other threads may still run their iterations.
 *
 * @param iterations the thread's execution
 * @return STEELYARD_SUCCESS, or the error of steelyard_loop_begin()
 * @retval STEELYARD_ERROR_INVALID_STATE not between steelyard_loop_begin() and steelyard_loop_end(), or `iterations`
 *                                       was copied
 * @pre Called once after each steelyard_loop_begin().
 * @note Local. Does not block. The thread that has begun the execution.
 */
STEELYARD_API steelyard_status_t steelyard_loop_end(steelyard_iterations_t* iterations);
/**
 * Cancels an execution: no thread of the team gets further iterations of it. Threads finish the iterations that they
 * have.
 *
 * @param iterations the thread's execution; ignored if it is not in one
 * @pre Between steelyard_loop_begin() and steelyard_loop_end(), which must still be called.
 * @note Local. Does not block. Any thread of the team.
 */
STEELYARD_API void steelyard_loop_cancel(steelyard_iterations_t* iterations);

/** How a loop is executed now. */
typedef struct steelyard_loop_state {
  /** The strategy in use; with "auto", the one that it has chosen. Static memory. */
  const char* strategy;
  int settled;            /**< 1: "auto" has chosen; 0: it still compares strategies */
  long executions;        /**< executions that were measured; of a short loop only some are */
  double seconds;         /**< time of an execution, recent mean, in s */
  double stolen_fraction; /**< fraction of the iterations that moved to another thread in the last measured one, 0..1 */
} steelyard_loop_state_t;
/**
 * Tells how a loop is executed: its latest regime (number of threads and order of magnitude of iterations).
 *
 * @param loop       the loop
 * @param[out] state its state; zeros and "" before the first execution
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `loop` or `state` is null
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API steelyard_status_t steelyard_loop_get_state(const steelyard_loop_t* loop, steelyard_loop_state_t* state);

/**
 * Writes what was learnt about all loops of this process to a file (JSON). The option `loops-learn` does it at the end
 * of the process.
 *
 * @param path the file; each process of a run needs one of its own
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `path` is null
 * @retval STEELYARD_ERROR_SYSTEM           the file cannot be written
 * @note Local. Blocks while the file is written. Any thread, at any time.
 */
STEELYARD_API steelyard_status_t steelyard_loops_save(const char* path);
/**
 * Reads what an earlier run has learnt. Loops are found by their name, or by their place in the executable: a program
 * that was built anew learns anew, except for loops with a name. The option `loops-learn` does it at the first loop.
 *
 * @param path a file that steelyard_loops_save() or the option `loops-learn` has written
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `path` is null, or it is no such file
 * @retval STEELYARD_ERROR_SYSTEM           the file cannot be read
 * @note Local. Blocks while the file is read. Any thread, at any time.
 */
STEELYARD_API steelyard_status_t steelyard_loops_load(const char* path);

/* ---------------------------------------------------------------------------------------------- for other languages */

/**
 * One execution of a loop by a team that tells itself which threads are in it, for loops.hpp and bindings to other
 * languages. One thread calls steelyard_loop_execution_begin() before the region; each thread of the region calls
 * steelyard_loop_execution_join(), steelyard_loop_next() and steelyard_loop_end(); one thread calls
 * steelyard_loop_execution_end() after the region. The members are private to the library.
 */
typedef struct steelyard_loop_execution {
  steelyard_loop_t* loop;
  void* record;
  void* team;
} steelyard_loop_execution_t;
/**
 * Begins an execution, by one thread, before the region.
 *
 * @param loop           the loop; NULL: the loop of this file and line
 * @param file           name of the source file: the same pointer in each call from this place
 * @param line           line in the file
 * @param[out] execution the execution; owned by the caller
 * @return STEELYARD_SUCCESS
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT `execution` is null, or both `loop` and `file` are
 * @retval STEELYARD_ERROR_INVALID_STATE    another team executes the loop now
 * @note Local. Does not block. Any thread.
 */
STEELYARD_API steelyard_status_t steelyard_loop_execution_begin(steelyard_loop_t* loop, const char* file, int line,
                                                                steelyard_loop_execution_t* execution);
/**
 * Takes the place of steelyard_loop_begin(), for the iterations 0 to count - 1.
 *
 * @param execution       the execution; shared by the threads of the team
 * @param thread          thread ID of the calling thread in its team, from 0
 * @param threads         threads of the team, the same in all of them
 * @param count           iterations, the same in all threads
 * @param[out] iterations the thread's execution; owned by the caller
 * @return as steelyard_loop_begin()
 * @note Local. Does not block. Each thread of the team, once.
 */
STEELYARD_API steelyard_status_t steelyard_loop_execution_join(steelyard_loop_execution_t* execution, int thread,
                                                               int threads, uint64_t count,
                                                               steelyard_iterations_t* iterations);
/**
 * Ends an execution, by one thread, after the region.
 *
 * @param execution the execution; NULL is ignored
 * @note Local. Does not block. Any thread.
 */
STEELYARD_API void steelyard_loop_execution_end(steelyard_loop_execution_t* execution);
/**
 * The calling thread's ID in its team. Unlike omp_get_thread_num() the call is invisible to `steelyard run`, which
 * does not change the thread count of regions that query thread IDs.
 *
 * @param[out] threads threads of the team; 0: not known here, ask omp_get_thread_num() and omp_get_num_threads()
 * @return the thread ID, from 0
 * @note Local. Does not block. Any thread.
 */
STEELYARD_API int steelyard_loop_thread_num(int* threads);

#ifdef __cplusplus
}
#endif
#endif
