#ifndef STEELYARD_COLLECTIVES_H
#define STEELYARD_COLLECTIVES_H
/*
 * Broadcasts in which a late rank holds up no other.
 *
 * Under `steelyard run --collectives=auto` every MPI_Bcast of a program becomes one where that is seen to pay, with `=on` in
 * any case, from C and from Fortran, and nothing of this header is needed. It is for a program that wants this for some of its broadcasts, and is started with
 * `steelyard run --collectives=called`.
 *
 * Needs mpi.h; link -lsteelyard. C99, and C++. docs/collectives.md says how it works.
 */
#include "steelyard/steelyard.h"
#ifndef STEELYARD_WITHOUT_MPI
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*steelyard_function_t)(void);
/* The preload library's broadcast, for the MPI that it was built for; NULL outside of `steelyard run`. */
STEELYARD_API steelyard_function_t steelyard_internal_bcast(void);
/* For Fortran: this thread's next MPI_Bcast is one that was asked for by name. */
STEELYARD_API void steelyard_internal_next_bcast(void);

#ifndef STEELYARD_WITHOUT_MPI
/*
 * MPI_Bcast, argument by argument, with its results and its errors. Collective; all ranks of the communicator call it by this
 * name, or all by MPI's. Without `steelyard run`, or with --collectives=off, it is MPI_Bcast.
 */
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
