// SPDX-License-Identifier: BSD-3-Clause
// Windows for one-sided accesses, and the waits for their completion, from Fortran.
#include "intercept/mpi/fortran.h"
#include "intercept/mpi/windows.h"

using F = MPI_Fint;

// The error is asked for by ourselves: the program may not want it.
// NOLINTBEGIN(bugprone-macro-parentheses): the arguments come with their parentheses.
#define MAKE(name, parameters, arguments)                                                \
  namespace steelyard::intercept {                                                       \
  template <Name binding>                                                                \
  void measure_##name(Site site, STEELYARD_UNWRAP parameters, F* window, F* ierror) {    \
    const int error = timed(site, [&] { return ask<"mpi_" #name, binding> arguments; }); \
    if (error == MPI_SUCCESS) window_made(PMPI_Win_f2c(*window));                        \
    set_error(ierror, error);                                                            \
  }                                                                                      \
  }
// NOLINTEND(bugprone-macro-parentheses)

MAKE(win_create, (void* base, MPI_Aint* size, F* unit, F* info, F* comm), (base, size, unit, info, comm, window))
STEELYARD_FORTRAN_BUFFER(win_create, (void* base, MPI_Aint* size, F* unit, F* info, F* comm, F* window, F* ierror),
                         (base, size, unit, info, comm, window, ierror))

// The base is an address that the library writes, or a C_PTR: in no binding is it a descriptor.
MAKE(win_allocate, (MPI_Aint * size, F* unit, F* info, F* comm, void* base), (size, unit, info, comm, base, window))
STEELYARD_FORTRAN(win_allocate, (MPI_Aint * size, F* unit, F* info, F* comm, void* base, F* window, F* ierror),
                  (size, unit, info, comm, base, window, ierror))

MAKE(win_allocate_shared, (MPI_Aint * size, F* unit, F* info, F* comm, void* base),
     (size, unit, info, comm, base, window))
STEELYARD_FORTRAN(win_allocate_shared, (MPI_Aint * size, F* unit, F* info, F* comm, void* base, F* window, F* ierror),
                  (size, unit, info, comm, base, window, ierror))

#ifdef OPEN_MPI
// From `use mpi`, with a C_PTR.
MAKE(win_allocate_cptr, (MPI_Aint * size, F* unit, F* info, F* comm, void* base),
     (size, unit, info, comm, base, window))
STEELYARD_FORTRAN_MEASURED(win_allocate_cptr, _,
                           (MPI_Aint * size, F* unit, F* info, F* comm, void* base, F* window, F* ierror),
                           (size, unit, info, comm, base, window, ierror))

MAKE(win_allocate_shared_cptr, (MPI_Aint * size, F* unit, F* info, F* comm, void* base),
     (size, unit, info, comm, base, window))
STEELYARD_FORTRAN_MEASURED(win_allocate_shared_cptr, _,
                           (MPI_Aint * size, F* unit, F* info, F* comm, void* base, F* window, F* ierror),
                           (size, unit, info, comm, base, window, ierror))
#endif

MAKE(win_create_dynamic, (F * info, F* comm), (info, comm, window))
STEELYARD_FORTRAN(win_create_dynamic, (F * info, F* comm, F* window, F* ierror), (info, comm, window, ierror))

STEELYARD_FORTRAN_TIMED(win_free, (F * window, F* ierror), (window, ierror))
STEELYARD_FORTRAN_TIMED(win_fence, (F * hints, F* window, F* ierror), (hints, window, ierror))
STEELYARD_FORTRAN_TIMED(win_complete, (F * window, F* ierror), (window, ierror))
STEELYARD_FORTRAN_TIMED(win_wait, (F * window, F* ierror), (window, ierror))
STEELYARD_FORTRAN_TIMED(win_unlock, (F * rank, F* window, F* ierror), (rank, window, ierror))
STEELYARD_FORTRAN_TIMED(win_unlock_all, (F * window, F* ierror), (window, ierror))
STEELYARD_FORTRAN_TIMED(win_flush, (F * rank, F* window, F* ierror), (rank, window, ierror))
STEELYARD_FORTRAN_TIMED(win_flush_all, (F * window, F* ierror), (window, ierror))
STEELYARD_FORTRAN_TIMED(win_flush_local, (F * rank, F* window, F* ierror), (rank, window, ierror))
STEELYARD_FORTRAN_TIMED(win_flush_local_all, (F * window, F* ierror), (window, ierror))
STEELYARD_FORTRAN_TIMED(win_lock, (F * kind, F* rank, F* hints, F* window, F* ierror),
                        (kind, rank, hints, window, ierror))
STEELYARD_FORTRAN_TIMED(win_lock_all, (F * hints, F* window, F* ierror), (hints, window, ierror))
STEELYARD_FORTRAN_TIMED(win_start, (F * group, F* hints, F* window, F* ierror), (group, hints, window, ierror))
