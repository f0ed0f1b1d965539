#ifndef STEELYARD_STEELYARD_H
#define STEELYARD_STEELYARD_H
/*
 * Steelyard restores balance in running MPI+OpenMP programs. An unmodified program is run by
 *
 *     mpirun -n 8 steelyard run ./app
 *
 * and needs nothing of this header. A program that wants to say more about itself includes it and links -lsteelyard
 * (CMake: steelyard::steelyard; pkg-config: steelyard). That library alone does nothing: the functions below become active
 * when the program is started under `steelyard run`, and return STEELYARD_INACTIVE otherwise. So the calls can stay in place.
 * (phases.h, loops.h and tasks.h, which are apart, are active always.)
 *
 * Errors: a function that returns steelyard_status_t returns STEELYARD_SUCCESS (0), or another value and leaves a sentence
 * for steelyard_message() of the same thread: the cause, and what to do. No function ends the program, and none changes
 * its results.
 *
 * The header is C99 and may be included from C++; steelyard.hpp has the same in C++17, the module `steelyard` in Fortran.
 */

#if defined(__GNUC__)
#define STEELYARD_API __attribute__((visibility("default")))
#else
#define STEELYARD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum steelyard_status {
  STEELYARD_SUCCESS = 0,
  STEELYARD_INACTIVE = 1, /* nothing was done, and nothing needs to be: see steelyard_message() */
  STEELYARD_ERROR = 2     /* the call was wrong: see steelyard_message() */
} steelyard_status_t;

/*
 * Says that a phase of computing ends here: put it at the end of each time step.
 *
 * Needed only where processes run different numbers of parallel regions or collectives in a step, so that Steelyard cannot
 * find the steps by itself. Loads are then compared from call to call, and threads are moved between processes of a node
 * at these points (steps as in the SABO paper, where the call is named omp_balanced).
 *
 * Not collective: no communication, and processes may call it at different times. Costs well under a microsecond where
 * nothing is moved. To be called by the primary thread (the one that called MPI_Init), outside of parallel regions,
 * between MPI_Init and MPI_Finalize, equally often by all processes.
 *
 * Returns STEELYARD_SUCCESS; STEELYARD_INACTIVE where this process is not being balanced; STEELYARD_ERROR where it is
 * called by another thread or inside a parallel region, and then has no effect.
 */
STEELYARD_API steelyard_status_t steelyard_step(void);

/*
 * 1 where this process is being balanced now, otherwise 0; steelyard_message() then says why not.
 * Any thread, any time, not collective.
 */
STEELYARD_API int steelyard_active(void);

/*
 * The sentence that belongs to the last call of this thread which did not return STEELYARD_SUCCESS; "" before the first.
 * Valid until the next call of the same thread. Any thread, any time.
 */
STEELYARD_API const char* steelyard_message(void);

/* The version of the library in use, such as "0.1.0": the launcher's, where active. Any thread, any time. */
STEELYARD_API const char* steelyard_version(void);

/* steelyard_step() under the name that the SABO paper gave it, so that programs prepared for SABO link unchanged. */
STEELYARD_API void omp_balanced(void);

#ifdef __cplusplus
}
#endif
#endif
