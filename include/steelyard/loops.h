#ifndef STEELYARD_LOOPS_H
#define STEELYARD_LOOPS_H
/*
 * Loops: the threads of a parallel region share the iterations of a loop, cheaply and with locality.
 *
 * In the place of `#pragma omp for`, inside of a parallel region:
 *
 *     #pragma omp parallel
 *     {
 *       steelyard_iterations_t mine;
 *       steelyard_loop_begin(NULL, 0, n, 1, &mine);
 *       while (steelyard_loop_next(&mine))
 *         for (int64_t i = mine.first; i < mine.last; ++i) y[i] = f(i);
 *       steelyard_loop_end(&mine);
 *       #pragma omp barrier            // where what follows needs all of y
 *     }
 *
 * Each iteration runs exactly once. Each thread begins with a part of its own, the same in each execution, so that data stay
 * in its cache and in its memory; who is done early takes from those who are not, the nearest first. How the parts are cut
 * is learnt from execution to execution, for each loop by itself: a loop is known by the place that calls begin.
 *
 * After Kale, "Composing Low-Overhead Scheduling Strategies for Improving Performance of Scientific Applications" (2015),
 * whose strategies have the names here that the paper gave them, without "Sched". docs/loops.md says what each does.
 *
 * Works with and without `steelyard run`, with and without MPI, with LLVM's and GNU's OpenMP. Link -lsteelyard. What a
 * program leaves open is taken from the options (`steelyard options`; STEELYARD_LOOPS=static, say).
 *
 * begin, next and end are called by all threads of the region, in the same order of loops, as with `#pragma omp for nowait`:
 * nobody waits in end. A thread that leaves a cancelled region (`#pragma omp cancel parallel`) before a loop which another one
 * has begun stays a loop behind in all later regions, and iterations are then run twice, or waited for: end a loop early by
 * steelyard_loop_cancel(), or make its handle anew after such a region, outside of it.
 * All other calls may be made by any thread at any time. Every call that returns a status
 * (steelyard.h) leaves a sentence for steelyard_message() where it is not STEELYARD_SUCCESS.
 *
 * C99, and C++; loops.hpp has for_each and reduce in C++17, the module `steelyard_loops` is for Fortran.
 */
#include <stddef.h>
#include <stdint.h>

#include "steelyard/steelyard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A loop of the program, with what was learnt of it. Needed only where a loop is to be named, tuned by hand or tied to
 * others. One team at a time executes it. */
typedef struct steelyard_loop steelyard_loop_t;

typedef struct steelyard_loop_options {
  const char* strategy; /* "auto", "static", "hybrid", "tuned", "slack", "staggered", "combined", "guided", "factoring",
                           "steal" or "adaptive"; NULL: as the options say, by default "auto". Copied.
                           "slack" and "combined" know what a process waits in MPI under `steelyard run` only. */
  double fraction; /* up to 1: static part of the iterations, for "hybrid" and "staggered"; 0: as the options say. Where
                      nothing should be static, take "factoring" or "steal". */
  uint64_t chunk;  /* iterations that are taken at a time, at least; 0: by measurement */
} steelyard_loop_options_t;
#define STEELYARD_LOOP_OPTIONS_DEFAULT {NULL, 0, 0} /* as {0}: what is left out is as the options say */

/*
 * Makes a loop. `name` is copied; it is how the loop is found again in a later run (steelyard_loops_load()). NULL: the
 * caller's place. Options NULL: the defaults. Free it with steelyard_loop_free(), outside of its executions.
 * Errors: an unknown strategy, a fraction outside of 0..1.
 */
STEELYARD_API steelyard_status_t steelyard_loop_create(const char* name, const steelyard_loop_options_t* options,
                                                       steelyard_loop_t** loop);
/* NULL is let pass. What was learnt stays with the name. */
STEELYARD_API void steelyard_loop_free(steelyard_loop_t* loop);
/* Other options from the next execution on. Errors as above; then all stays as it was. */
STEELYARD_API steelyard_status_t steelyard_loop_set(steelyard_loop_t* loop, const steelyard_loop_options_t* options);
/* Two loops over the same data: where their parts follow the load, they are cut alike, by the sum of both. */
STEELYARD_API steelyard_status_t steelyard_loop_tie(steelyard_loop_t* loop, steelyard_loop_t* other);

/* A thread's place in a loop. On its stack; not to be copied between begin and end. */
typedef struct steelyard_iterations {
  /* The iterations to run now, after next has returned 1: for (i = first; i < last; i += stride), or i > last where the
   * stride is negative. */
  int64_t first, last, stride;
  struct {
    void *seat, *member;
    uint64_t start, end, count, check;
    int inclusive;
  } inside; /* the library's */
} steelyard_iterations_t;

/*
 * Begins for (i = first; i < last; i += stride), or i > last where the stride is negative. `loop`: NULL for the one of this
 * place in the program. Returns at once, but for a thread that is four loops ahead of another, which waits for that one.
 * Outside of parallel regions the thread has all iterations for itself.
 * Errors: a stride of 0; the other threads are in another loop, or with other bounds; a loop that another team executes now;
 * this thread has not ended its last execution of this loop, which is given up then in all threads, as the one that it begins
 * is: nobody waits for it; an OpenMP runtime that is linked into the program, which cannot be asked who is in a team (the
 * first thread of the process then has all iterations, and the others this error). There are no iterations then, and next
 * returns 0.
 */
STEELYARD_API steelyard_status_t steelyard_loop_begin(steelyard_loop_t* loop, int64_t first, int64_t last,
                                                      int64_t stride, steelyard_iterations_t* mine);
/* The same for 64-bit unsigned bounds: cast mine.first and mine.last to uint64_t. The stride may be negative. */
STEELYARD_API steelyard_status_t steelyard_loop_begin_unsigned(steelyard_loop_t* loop, uint64_t first, uint64_t last,
                                                               int64_t stride, steelyard_iterations_t* mine);
/* 1: there are iterations to run. 0: there are none left, or the call was wrong, which end then says. About 15 ns. */
STEELYARD_API int steelyard_loop_next(steelyard_iterations_t* mine);
/* To be called once after each begin. Where next has not returned 0 yet, the rest of the loop is given up in all threads.
 * Error: not between begin and end; or begin has failed. */
STEELYARD_API steelyard_status_t steelyard_loop_end(steelyard_iterations_t* mine);
/* No thread gets further iterations of this loop. Those that have some finish them. */
STEELYARD_API void steelyard_loop_cancel(steelyard_iterations_t* mine);

/* How a loop is executed now. */
typedef struct steelyard_loop_state {
  const char* strategy; /* in force; where "auto" was asked for, what it has chosen. Static memory. */
  int settled;          /* 1: "auto" has chosen; 0: it compares */
  long executions;      /* that were measured; of a short loop, only some are */
  double seconds;       /* that an execution takes, lately */
  double stolen;        /* share of iterations that moved in the last one measured, 0..1 */
} steelyard_loop_state_t;
/* Of the loop's last kind of execution (threads and order of magnitude); zeros and "" before the first. */
STEELYARD_API steelyard_status_t steelyard_loop_inspect(const steelyard_loop_t* loop, steelyard_loop_state_t* state);

/*
 * What was learnt of all loops, to a file (JSON) and from it. One file for each process that runs at a time. Loops are found
 * by name, or by their place in the executable: a program that was built anew learns anew. The option
 * `loops-learn` does both, at the first loop and at the end of the process.
 */
STEELYARD_API steelyard_status_t steelyard_loops_save(const char* path);
STEELYARD_API steelyard_status_t steelyard_loops_load(const char* path);

/* ---------------------------------------------------------------------------- for loops.hpp and other languages ------- */

/* One execution by a team that says itself who is in it: enter, by one thread before the region; join, by each in the place
 * of begin, for iterations 0 to count; next and end as above; leave, after the region. */
typedef struct steelyard_execution {
  steelyard_loop_t* loop;
  void* record;
  void* team;
} steelyard_execution_t;
/* This thread's number in its team, and how many they are. Other than omp_get_thread_num() and omp_get_num_threads(), it says
 * nothing to `steelyard run`, which would keep the thread count of regions that ask. 0 threads: ask omp_get_thread_num() and omp_get_num_threads(). */
STEELYARD_API int steelyard_loop_thread(int* threads);
/* `loop` NULL: the one of this file and line. */
STEELYARD_API steelyard_status_t steelyard_loop_enter(steelyard_loop_t* loop, const char* file, int line,
                                                      steelyard_execution_t* execution);
STEELYARD_API steelyard_status_t steelyard_loop_join(steelyard_execution_t* execution, int thread, int threads,
                                                     uint64_t count, steelyard_iterations_t* mine);
STEELYARD_API void steelyard_loop_leave(steelyard_execution_t* execution);

#ifdef __cplusplus
}
#endif
#endif
