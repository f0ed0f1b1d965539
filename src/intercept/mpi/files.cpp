// SPDX-License-Identifier: BSD-3-Clause
// Collective access to files from C: measured. The MPI library does the waiting.
#include "intercept/mpi/call.h"

extern "C" {

STEELYARD_EXPORT int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  STEELYARD_TIMED(PMPI_File_open(comm, name, mode, info, file));
}

STEELYARD_EXPORT int MPI_File_close(MPI_File* file) { STEELYARD_TIMED(PMPI_File_close(file)); }

STEELYARD_EXPORT int MPI_File_read_all(MPI_File file, void* to, int count, MPI_Datatype type, MPI_Status* status) {
  STEELYARD_TIMED(PMPI_File_read_all(file, to, count, type, status));
}

STEELYARD_EXPORT int MPI_File_write_all(MPI_File file, const void* from, int count, MPI_Datatype type,
                                        MPI_Status* status) {
  STEELYARD_TIMED(PMPI_File_write_all(file, from, count, type, status));
}

STEELYARD_EXPORT int MPI_File_read_at_all(MPI_File file, MPI_Offset place, void* to, int count, MPI_Datatype type,
                                          MPI_Status* status) {
  STEELYARD_TIMED(PMPI_File_read_at_all(file, place, to, count, type, status));
}

STEELYARD_EXPORT int MPI_File_write_at_all(MPI_File file, MPI_Offset place, const void* from, int count,
                                           MPI_Datatype type, MPI_Status* status) {
  STEELYARD_TIMED(PMPI_File_write_at_all(file, place, from, count, type, status));
}

}  // extern "C"
