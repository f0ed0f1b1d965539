// SPDX-License-Identifier: BSD-3-Clause
// Collective access to files from Fortran.
#include "intercept/mpi/fortran.h"

using F = MPI_Fint;

// The length of a name comes last and by value; it has the size of a pointer and is passed on as one.
STEELYARD_FORTRAN_TIMED(file_open, (F * comm, char* name, F* mode, F* info, F* file, F* ierror, void* length),
                        (comm, name, mode, info, file, ierror, length))
STEELYARD_FORTRAN_TIMED(file_close, (F * file, F* ierror), (file, ierror))
STEELYARD_FORTRAN_TIMED_BUFFER(file_read_all, (F * file, void* to, F* count, F* type, F* status, F* ierror),
                               (file, to, count, type, status, ierror))
STEELYARD_FORTRAN_TIMED_BUFFER(file_write_all, (F * file, void* from, F* count, F* type, F* status, F* ierror),
                               (file, from, count, type, status, ierror))
STEELYARD_FORTRAN_TIMED_BUFFER(file_read_at_all,
                               (F * file, MPI_Offset* place, void* to, F* count, F* type, F* status, F* ierror),
                               (file, place, to, count, type, status, ierror))
STEELYARD_FORTRAN_TIMED_BUFFER(file_write_at_all,
                               (F * file, MPI_Offset* place, void* from, F* count, F* type, F* status, F* ierror),
                               (file, place, from, count, type, status, ierror))
