// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives from C (and, with MPICH, from most of its Fortran bindings).
#include "intercept/mpi/broadcast.h"
#include "intercept/mpi/collective.h"
#include "intercept/mpi/scatter.h"

using namespace steelyard::intercept;

#define COLLECTIVE(communicator, flow, native) \
  return collective(STEELYARD_SITE, communicator, flow, [&] { return native; }, [](int error) { return error; })

extern "C" {

STEELYARD_EXPORT int MPI_Barrier(MPI_Comm comm) { COLLECTIVE(comm, barrier(), PMPI_Barrier(comm)); }

STEELYARD_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return broadcast(
      STEELYARD_SITE, {buffer, count, type, root, comm}, false,
      [&] { return PMPI_Bcast(buffer, count, type, root, comm); }, [](int error) { return error; });
}

STEELYARD_EXPORT int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                                MPI_Comm comm) {
  COLLECTIVE(comm, all_to_root(root, count, type), PMPI_Reduce(from, to, count, type, op, root, comm));
}

STEELYARD_EXPORT int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  COLLECTIVE(comm, all_to_all(count, type), PMPI_Allreduce(from, to, count, type, op, comm));
}

STEELYARD_EXPORT int MPI_Scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  COLLECTIVE(comm, scan(), PMPI_Scan(from, to, count, type, op, comm));
}

STEELYARD_EXPORT int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  COLLECTIVE(comm, scan(), PMPI_Exscan(from, to, count, type, op, comm));
}

STEELYARD_EXPORT int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                MPI_Datatype to_type, int root, MPI_Comm comm) {
  COLLECTIVE(comm, all_to_root(root, to_count, to_type),
             PMPI_Gather(from, count, type, to, to_count, to_type, root, comm));
}

STEELYARD_EXPORT int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[],
                                 const int places[], MPI_Datatype to_type, int root, MPI_Comm comm) {
  COLLECTIVE(comm, each_to_root(root, counts, to_type),
             PMPI_Gatherv(from, count, type, to, counts, places, to_type, root, comm));
}

STEELYARD_EXPORT int MPI_Scatter(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                 MPI_Datatype to_type, int root, MPI_Comm comm) {
  return scatter(
      STEELYARD_SITE, {from, count, type, to, to_count, to_type, root, comm},
      [&] { return PMPI_Scatter(from, count, type, to, to_count, to_type, root, comm); },
      [](int error) { return error; });
}

STEELYARD_EXPORT int MPI_Scatterv(const void* from, const int counts[], const int places[], MPI_Datatype type, void* to,
                                  int to_count, MPI_Datatype to_type, int root, MPI_Comm comm) {
  COLLECTIVE(comm, root_to_all(root, to_count, to_type),
             PMPI_Scatterv(from, counts, places, type, to, to_count, to_type, root, comm));
}

STEELYARD_EXPORT int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                   MPI_Datatype to_type, MPI_Comm comm) {
  COLLECTIVE(comm, all_to_all(to_count, to_type), PMPI_Allgather(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[],
                                    const int places[], MPI_Datatype to_type, MPI_Comm comm) {
  COLLECTIVE(comm, each_to_all(counts, to_type), PMPI_Allgatherv(from, count, type, to, counts, places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                  MPI_Datatype to_type, MPI_Comm comm) {
  COLLECTIVE(comm, all_to_all(to_count, to_type), PMPI_Alltoall(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_Alltoallv(const void* from, const int counts[], const int places[], MPI_Datatype type,
                                   void* to, const int to_counts[], const int to_places[], MPI_Datatype to_type,
                                   MPI_Comm comm) {
  COLLECTIVE(comm, each_to_all(to_counts, to_type),
             PMPI_Alltoallv(from, counts, places, type, to, to_counts, to_places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Alltoallw(const void* from, const int counts[], const int places[], const MPI_Datatype types[],
                                   void* to, const int to_counts[], const int to_places[],
                                   const MPI_Datatype to_types[], MPI_Comm comm) {
  COLLECTIVE(comm, each_to_all(to_types != nullptr ? to_counts : nullptr, [=](int i) { return to_types[i]; }),
             PMPI_Alltoallw(from, counts, places, types, to, to_counts, to_places, to_types, comm));
}

STEELYARD_EXPORT int MPI_Reduce_scatter(const void* from, void* to, const int counts[], MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
  COLLECTIVE(comm, all_to_mine(counts, type), PMPI_Reduce_scatter(from, to, counts, type, op, comm));
}

STEELYARD_EXPORT int MPI_Reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                              MPI_Comm comm) {
  COLLECTIVE(comm, all_to_all(count, type), PMPI_Reduce_scatter_block(from, to, count, type, op, comm));
}

}  // extern "C"
