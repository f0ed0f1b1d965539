/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_COLLECTIVES_H
#define STEELYARD_COLLECTIVES_H
/**
 * @file
 * Broadcasts in which a late rank delays no other rank of its node.
 *
 * Under `steelyard run --collectives=auto` Steelyard takes over the MPI_Bcast calls of a program, in C and in Fortran,
 * where measurements show that this pays; with `=on`, in any case. Neither needs this header. The header is for a
 * program that wants this for some of its broadcasts only. Start such a program with `steelyard run
 * --collectives=called`.
 *
 * Between nodes the broadcast tree puts late ranks at its leaves, after Soga et al., "Dynamic optimization of load
 * balance in MPI broadcast". docs/collectives.md describes how it works.
 *
 * Needs mpi.h. Link `-lsteelyard`. C99, and C++. The module `steelyard_collectives` has the call for Fortran 2018.
 * Define STEELYARD_WITHOUT_MPI to leave out what needs mpi.h.
 */
#include "steelyard/steelyard.h"
#ifndef STEELYARD_WITHOUT_MPI
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef STEELYARD_WITHOUT_MPI
/**
 * Broadcasts from one rank to all ranks of a communicator: MPI_Bcast, with the same arguments, results and errors.
 * Without `steelyard run`, or with `--collectives=off`, it calls MPI_Bcast.
 *
 * @param buffer data to be sent at the root, to be received elsewhere; owned by the caller
 * @param count  elements of `type` in `buffer`
 * @param type   type of the elements
 * @param root   rank that sends
 * @param comm   communicator
 * @return MPI_SUCCESS, or the error code of MPI
 * @pre All ranks of the communicator call this function, or all call MPI_Bcast: a broadcast must not mix the two.
 * @note Collective over `comm`. Blocks as MPI_Bcast may. Among the ranks of its node, a rank waits for the root only;
 *       the root waits only if it is 64 broadcasts ahead of another rank. Threads as for MPI_Bcast.
 */
static inline int steelyard_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
#endif

/* ---------------------------------------------------------------------------------------------- for other languages */

/** Any function; to be converted to the type of MPI_Bcast. */
typedef void (*steelyard_internal_function_t)(void);
/** The preload library's broadcast, for the MPI that it was built for; NULL without `steelyard run`. */
STEELYARD_API steelyard_internal_function_t steelyard_internal_bcast(void);
/** For Fortran: the next MPI_Bcast of the calling thread counts as a call of steelyard_bcast(). */
STEELYARD_API void steelyard_internal_next_bcast(void);

#ifndef STEELYARD_WITHOUT_MPI
static inline int steelyard_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  typedef int (*function)(void*, int, MPI_Datatype, int, MPI_Comm);
  const function active = (function)steelyard_internal_bcast();
  return active ? active(buffer, count, type, root, comm) : MPI_Bcast(buffer, count, type, root, comm);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
