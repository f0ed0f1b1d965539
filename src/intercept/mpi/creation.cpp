// SPDX-License-Identifier: BSD-3-Clause
// The making of communicators from C: measured. The MPI library does the waiting.
#include "intercept/mpi/call.h"

extern "C" {

STEELYARD_EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) { STEELYARD_TIMED(PMPI_Comm_dup(comm, made)); }

STEELYARD_EXPORT int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Comm_dup_with_info(comm, info, made));
}

STEELYARD_EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Comm_split(comm, color, key, made));
}

STEELYARD_EXPORT int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Comm_split_type(comm, type, key, info, made));
}

STEELYARD_EXPORT int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Comm_create(comm, group, made));
}

STEELYARD_EXPORT int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Comm_create_group(comm, group, tag, made));
}

STEELYARD_EXPORT int MPI_Comm_free(MPI_Comm* comm) { STEELYARD_TIMED(PMPI_Comm_free(comm)); }

STEELYARD_EXPORT int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int peer, int tag,
                                          MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Intercomm_create(local, leader, peers, peer, tag, made));
}

STEELYARD_EXPORT int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Intercomm_merge(comm, high, made));
}

STEELYARD_EXPORT int MPI_Cart_create(MPI_Comm comm, int dimensions, const int sizes[], const int periodic[],
                                     int reorder, MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Cart_create(comm, dimensions, sizes, periodic, reorder, made));
}

STEELYARD_EXPORT int MPI_Cart_sub(MPI_Comm comm, const int kept[], MPI_Comm* made) {
  STEELYARD_TIMED(PMPI_Cart_sub(comm, kept, made));
}

}  // extern "C"
