// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours from C: measured. The MPI library does the waiting.
#include "intercept/mpi/call.h"

extern "C" {

STEELYARD_EXPORT int MPI_Neighbor_allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                            MPI_Datatype to_type, MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_allgather(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_allgatherv(const void* from, int count, MPI_Datatype type, void* to,
                                             const int counts[], const int places[], MPI_Datatype to_type,
                                             MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_allgatherv(from, count, type, to, counts, places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                           MPI_Datatype to_type, MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_alltoall(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_alltoallv(const void* from, const int counts[], const int places[], MPI_Datatype type,
                                            void* to, const int to_counts[], const int to_places[],
                                            MPI_Datatype to_type, MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_alltoallv(from, counts, places, type, to, to_counts, to_places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_alltoallw(const void* from, const int counts[], const MPI_Aint places[],
                                            const MPI_Datatype types[], void* to, const int to_counts[],
                                            const MPI_Aint to_places[], const MPI_Datatype to_types[], MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_alltoallw(from, counts, places, types, to, to_counts, to_places, to_types, comm));
}

}  // extern "C"
