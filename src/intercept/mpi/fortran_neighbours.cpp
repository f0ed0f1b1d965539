// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours from Fortran.
#include "intercept/mpi/fortran.h"

using F = MPI_Fint;

STEELYARD_FORTRAN_TIMED_BUFFER(neighbor_allgather,
                               (void* from, F* count, F* type, void* to, F* to_count, F* to_type, F* comm, F* ierror),
                               (from, count, type, to, to_count, to_type, comm, ierror))

STEELYARD_FORTRAN_TIMED_BUFFER(neighbor_allgatherv,
                               (void* from, F* count, F* type, void* to, F* counts, F* places, F* to_type, F* comm,
                                F* ierror),
                               (from, count, type, to, counts, places, to_type, comm, ierror))

STEELYARD_FORTRAN_TIMED_BUFFER(neighbor_alltoall,
                               (void* from, F* count, F* type, void* to, F* to_count, F* to_type, F* comm, F* ierror),
                               (from, count, type, to, to_count, to_type, comm, ierror))

STEELYARD_FORTRAN_TIMED_BUFFER(neighbor_alltoallv,
                               (void* from, F* counts, F* places, F* type, void* to, F* to_counts, F* to_places,
                                F* to_type, F* comm, F* ierror),
                               (from, counts, places, type, to, to_counts, to_places, to_type, comm, ierror))

STEELYARD_FORTRAN_TIMED_BUFFER(neighbor_alltoallw,
                               (void* from, F* counts, MPI_Aint* places, F* types, void* to, F* to_counts,
                                MPI_Aint* to_places, F* to_types, F* comm, F* ierror),
                               (from, counts, places, types, to, to_counts, to_places, to_types, comm, ierror))
