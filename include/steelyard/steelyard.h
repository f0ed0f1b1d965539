/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_STEELYARD_H
#define STEELYARD_STEELYARD_H
/**
 * @file
 * Steelyard measures and corrects load imbalance in MPI+OpenMP programs while they run. An unmodified program is
 * started by
 *
 *     mpirun -n 8 steelyard run ./app
 *
 * and needs nothing from this header. A program that tells Steelyard more about itself includes the header and links
 * `-lsteelyard` (CMake: `steelyard::steelyard`; pkg-config: `steelyard`).
 *
 * steelyard_step() and steelyard_active() take effect under `steelyard run`. Without it they do nothing and return
 * STEELYARD_INACTIVE or 0, so that the calls can stay in the program. The other headers (phases.h, loops.h, tasks.h,
 * collectives.h) work with and without `steelyard run`.
 *
 * Errors: a function that can fail returns steelyard_status_t. STEELYARD_SUCCESS is 0. With every other value the
 * function stores a message for the calling thread: the cause, the value seen, and what to do. steelyard_message()
 * returns it. No function throws or lets an exception pass. A failed call changes nothing unless its documentation says
 * so. Pointers through which a failed call would have returned something are set to zero.
 *
 * Each function is documented with a line "Local" or "Collective over ...", whether it blocks, and which thread may
 * call it. "Local" means: the call involves no other process. "Collective" means: all processes named there must make
 * the call, in the same order relative to their other collective calls. "Does not block" means: the call never waits
 * for another process or thread.
 *
 * The header is C99 and may be included from C++. steelyard.hpp has the same functions for C++17, the module
 * `steelyard` for Fortran 2018.
 */

/** Version of this header; steelyard_version() returns the version of the library in use. */
#define STEELYARD_VERSION_MAJOR 0
#define STEELYARD_VERSION_MINOR 1
#define STEELYARD_VERSION_PATCH 0
/** The version as one number, 10000 * major + 100 * minor + patch, for comparisons in `#if`. */
#define STEELYARD_VERSION_NUMBER \
  (10000 * STEELYARD_VERSION_MAJOR + 100 * STEELYARD_VERSION_MINOR + STEELYARD_VERSION_PATCH)

#if defined(__GNUC__)
#define STEELYARD_API __attribute__((visibility("default")))
#else
#define STEELYARD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The outcome of a call. The values are stable: a later version may add values, but changes none.
 */
typedef enum steelyard_status {
  /** The call did what its documentation says. */
  STEELYARD_SUCCESS = 0,
  /** Nothing was done, and nothing needs to be: this process is not being balanced. Not an error. */
  STEELYARD_INACTIVE = 1,
  /** An argument is null, out of range, or a name that is not known. */
  STEELYARD_ERROR_INVALID_ARGUMENT = 2,
  /** The call is not allowed now or here: before MPI_Init, after MPI_Finalize, in another thread, out of order. */
  STEELYARD_ERROR_INVALID_STATE = 3,
  /** Processes or threads that must call the same function with the same arguments have not. All of them get an
   * error. */
  STEELYARD_ERROR_MISMATCH = 4,
  /** Another process of a collective call has failed in it, or makes no further calls: see the message of that
   * process. */
  STEELYARD_ERROR_PEER = 5,
  /** The machine, the MPI library or the OpenMP runtime does not offer what the call needs. */
  STEELYARD_ERROR_UNSUPPORTED = 6,
  /** Memory of the process, or shared memory in /dev/shm, is exhausted. */
  STEELYARD_ERROR_OUT_OF_MEMORY = 7,
  /** A call of the operating system has failed: a file, or an affinity mask. */
  STEELYARD_ERROR_SYSTEM = 8,
  /** An MPI function has returned an error, on a communicator whose error handler returns errors. */
  STEELYARD_ERROR_MPI = 9,
  /** A task has failed: the status of its result (steelyard_task_result_t), never of a call. */
  STEELYARD_ERROR_TASK_FAILED = 10,
  /** A defect in Steelyard. Please report it with the message. */
  STEELYARD_ERROR_INTERNAL = 11
} steelyard_status_t;

/**
 * Marks the end of a step (an iteration of the program's main loop).
 *
 * Needed only if the ranks of a node run different numbers of parallel regions or collectives in a step, so that
 * Steelyard cannot find the steps by itself. Steelyard then compares the loads of ranks from call to call, and moves
 * cores between the ranks of a node at these calls. Under `steelyard run` a call costs less than a microsecond if no
 * core moves.
 *
 * The steps are those of Rocha Barbosa et al., "SABO: Dynamic MPI+OpenMP Resource Balancer" (IPDRM 2022).
 *
 * @return STEELYARD_SUCCESS; STEELYARD_INACTIVE if this process is not being balanced
 * @retval STEELYARD_ERROR_INVALID_STATE called by a thread other than the one that called MPI_Init, or inside a
 *                                       parallel region; the call has no effect
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY the memory of this process is exhausted; the step may be missing in the figures
 * @retval STEELYARD_ERROR_INTERNAL      a defect in Steelyard; the step may be missing in the figures
 * @pre MPI is initialised and not finalised. All ranks call this function equally often.
 * @note Local: no communication; ranks may call it at different times. Does not block. Primary thread only (the thread
 *       that called MPI_Init), outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_step(void);

/**
 * Tells whether this process is being balanced.
 *
 * @return 1 if this process is being balanced now; otherwise 0, and steelyard_message() says why not
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API int steelyard_active(void);

/**
 * Returns the message of the calling thread's last call that did not return STEELYARD_SUCCESS.
 *
 * @return one sentence, at most 511 bytes; "" before the first such call. Owned by the library; valid until the
 *         thread's next call of a Steelyard function.
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API const char* steelyard_message(void);

/**
 * Returns the name of a status, for logs.
 *
 * @param status a value that a call has returned
 * @return the name of the enumerator, such as "STEELYARD_ERROR_MISMATCH"; "unknown status" for other numbers. Static
 *         memory.
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API const char* steelyard_status_name(steelyard_status_t status);

/**
 * Returns the version of the library in use, such as "0.1.0". Under `steelyard run` that is the version of the
 * launcher, which may differ from the version of the header that the program was compiled with.
 *
 * @return static memory
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API const char* steelyard_version(void);

/**
 * Returns the version of the library in use as one number, to be compared with STEELYARD_VERSION_NUMBER.
 *
 * @return 10000 * major + 100 * minor + patch
 * @note Local. Does not block. Any thread, at any time.
 */
STEELYARD_API int steelyard_version_number(void);

/**
 * steelyard_step() under the name that the SABO paper gave it, so that programs prepared for SABO link unchanged.
 *
 * @note As steelyard_step().
 */
STEELYARD_API void omp_balanced(void);

#ifdef __cplusplus
}
#endif
#endif
