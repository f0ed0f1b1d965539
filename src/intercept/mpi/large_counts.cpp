// SPDX-License-Identifier: BSD-3-Clause
// MPI 4's calls with large counts, from C. Where its counts fit, such a call is the ordinary one: ranks may mix them.
// What may go through a broadcast buffer does so whatever the counts: no rank knows whether those of another fit.
#include <initializer_list>
#include <limits>

#include "intercept/mpi/broadcast.h"
#include "intercept/mpi/scatter.h"

#if MPI_VERSION >= 4

namespace steelyard::intercept {
namespace {

bool fit(std::initializer_list<MPI_Count> counts) {
  for (const MPI_Count count : counts) {
    if (count > std::numeric_limits<int>::max() || count < std::numeric_limits<int>::min()) return false;
  }
  return true;
}

}  // namespace
}  // namespace steelyard::intercept

using namespace steelyard::intercept;

#define ORDINARY_IF_FIT(counts, ordinary, large)          \
  if (fit counts) {                                       \
    const CalledFrom caller(__builtin_return_address(0)); \
    return ordinary;                                      \
  }                                                       \
  STEELYARD_TIMED(large)

extern "C" {

STEELYARD_EXPORT int MPI_Send_c(const void* from, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Send(from, static_cast<int>(count), type, to, tag, comm),
                  PMPI_Send_c(from, count, type, to, tag, comm));
}

STEELYARD_EXPORT int MPI_Ssend_c(const void* from, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Ssend(from, static_cast<int>(count), type, to, tag, comm),
                  PMPI_Ssend_c(from, count, type, to, tag, comm));
}

STEELYARD_EXPORT int MPI_Rsend_c(const void* from, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Rsend(from, static_cast<int>(count), type, to, tag, comm),
                  PMPI_Rsend_c(from, count, type, to, tag, comm));
}

STEELYARD_EXPORT int MPI_Recv_c(void* to, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                                MPI_Status* status) {
  ORDINARY_IF_FIT(({count}), MPI_Recv(to, static_cast<int>(count), type, from, tag, comm, status),
                  PMPI_Recv_c(to, count, type, from, tag, comm, status));
}

STEELYARD_EXPORT int MPI_Mrecv_c(void* to, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                                 MPI_Status* status) {
  ORDINARY_IF_FIT(({count}), MPI_Mrecv(to, static_cast<int>(count), type, message, status),
                  PMPI_Mrecv_c(to, count, type, message, status));
}

STEELYARD_EXPORT int MPI_Sendrecv_c(const void* from, MPI_Count count, MPI_Datatype type, int destination, int tag,
                                    void* to, MPI_Count to_count, MPI_Datatype to_type, int source, int to_tag,
                                    MPI_Comm comm, MPI_Status* status) {
  ORDINARY_IF_FIT(
      ({count, to_count}),
      MPI_Sendrecv(from, static_cast<int>(count), type, destination, tag, to, static_cast<int>(to_count), to_type,
                   source, to_tag, comm, status),
      PMPI_Sendrecv_c(from, count, type, destination, tag, to, to_count, to_type, source, to_tag, comm, status));
}

STEELYARD_EXPORT int MPI_Sendrecv_replace_c(void* data, MPI_Count count, MPI_Datatype type, int destination, int tag,
                                            int source, int to_tag, MPI_Comm comm, MPI_Status* status) {
  ORDINARY_IF_FIT(
      ({count}),
      MPI_Sendrecv_replace(data, static_cast<int>(count), type, destination, tag, source, to_tag, comm, status),
      PMPI_Sendrecv_replace_c(data, count, type, destination, tag, source, to_tag, comm, status));
}

STEELYARD_EXPORT int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return broadcast(
      STEELYARD_SITE, {buffer, count, type, root, comm}, false,
      [&] { return PMPI_Bcast_c(buffer, count, type, root, comm); }, [](int error) { return error; });
}

STEELYARD_EXPORT int MPI_Reduce_c(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                                  MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Reduce(from, to, static_cast<int>(count), type, op, root, comm),
                  PMPI_Reduce_c(from, to, count, type, op, root, comm));
}

STEELYARD_EXPORT int MPI_Allreduce_c(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Allreduce(from, to, static_cast<int>(count), type, op, comm),
                  PMPI_Allreduce_c(from, to, count, type, op, comm));
}

STEELYARD_EXPORT int MPI_Scan_c(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Scan(from, to, static_cast<int>(count), type, op, comm),
                  PMPI_Scan_c(from, to, count, type, op, comm));
}

STEELYARD_EXPORT int MPI_Exscan_c(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Exscan(from, to, static_cast<int>(count), type, op, comm),
                  PMPI_Exscan_c(from, to, count, type, op, comm));
}

STEELYARD_EXPORT int MPI_Reduce_scatter_block_c(const void* from, void* to, MPI_Count count, MPI_Datatype type,
                                                MPI_Op op, MPI_Comm comm) {
  ORDINARY_IF_FIT(({count}), MPI_Reduce_scatter_block(from, to, static_cast<int>(count), type, op, comm),
                  PMPI_Reduce_scatter_block_c(from, to, count, type, op, comm));
}

STEELYARD_EXPORT int MPI_Gather_c(const void* from, MPI_Count count, MPI_Datatype type, void* to, MPI_Count to_count,
                                  MPI_Datatype to_type, int root, MPI_Comm comm) {
  ORDINARY_IF_FIT(({count, to_count}),
                  MPI_Gather(from, static_cast<int>(count), type, to, static_cast<int>(to_count), to_type, root, comm),
                  PMPI_Gather_c(from, count, type, to, to_count, to_type, root, comm));
}

STEELYARD_EXPORT int MPI_Scatter_c(const void* from, MPI_Count count, MPI_Datatype type, void* to, MPI_Count to_count,
                                   MPI_Datatype to_type, int root, MPI_Comm comm) {
  return scatter(
      STEELYARD_SITE, {from, count, type, to, to_count, to_type, root, comm},
      [&] { return PMPI_Scatter_c(from, count, type, to, to_count, to_type, root, comm); },
      [](int error) { return error; });
}

STEELYARD_EXPORT int MPI_Allgather_c(const void* from, MPI_Count count, MPI_Datatype type, void* to, MPI_Count to_count,
                                     MPI_Datatype to_type, MPI_Comm comm) {
  ORDINARY_IF_FIT(({count, to_count}),
                  MPI_Allgather(from, static_cast<int>(count), type, to, static_cast<int>(to_count), to_type, comm),
                  PMPI_Allgather_c(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_Alltoall_c(const void* from, MPI_Count count, MPI_Datatype type, void* to, MPI_Count to_count,
                                    MPI_Datatype to_type, MPI_Comm comm) {
  ORDINARY_IF_FIT(({count, to_count}),
                  MPI_Alltoall(from, static_cast<int>(count), type, to, static_cast<int>(to_count), to_type, comm),
                  PMPI_Alltoall_c(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_allgather_c(const void* from, MPI_Count count, MPI_Datatype type, void* to,
                                              MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm) {
  ORDINARY_IF_FIT(
      ({count, to_count}),
      MPI_Neighbor_allgather(from, static_cast<int>(count), type, to, static_cast<int>(to_count), to_type, comm),
      PMPI_Neighbor_allgather_c(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_alltoall_c(const void* from, MPI_Count count, MPI_Datatype type, void* to,
                                             MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm) {
  ORDINARY_IF_FIT(
      ({count, to_count}),
      MPI_Neighbor_alltoall(from, static_cast<int>(count), type, to, static_cast<int>(to_count), to_type, comm),
      PMPI_Neighbor_alltoall_c(from, count, type, to, to_count, to_type, comm));
}

STEELYARD_EXPORT int MPI_File_read_all_c(MPI_File file, void* to, MPI_Count count, MPI_Datatype type,
                                         MPI_Status* status) {
  ORDINARY_IF_FIT(({count}), MPI_File_read_all(file, to, static_cast<int>(count), type, status),
                  PMPI_File_read_all_c(file, to, count, type, status));
}

STEELYARD_EXPORT int MPI_File_write_all_c(MPI_File file, const void* from, MPI_Count count, MPI_Datatype type,
                                          MPI_Status* status) {
  ORDINARY_IF_FIT(({count}), MPI_File_write_all(file, from, static_cast<int>(count), type, status),
                  PMPI_File_write_all_c(file, from, count, type, status));
}

STEELYARD_EXPORT int MPI_File_read_at_all_c(MPI_File file, MPI_Offset place, void* to, MPI_Count count,
                                            MPI_Datatype type, MPI_Status* status) {
  ORDINARY_IF_FIT(({count}), MPI_File_read_at_all(file, place, to, static_cast<int>(count), type, status),
                  PMPI_File_read_at_all_c(file, place, to, count, type, status));
}

STEELYARD_EXPORT int MPI_File_write_at_all_c(MPI_File file, MPI_Offset place, const void* from, MPI_Count count,
                                             MPI_Datatype type, MPI_Status* status) {
  ORDINARY_IF_FIT(({count}), MPI_File_write_at_all(file, place, from, static_cast<int>(count), type, status),
                  PMPI_File_write_at_all_c(file, place, from, count, type, status));
}

STEELYARD_EXPORT int MPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                                      MPI_Win* window) {
  ORDINARY_IF_FIT(({unit}), MPI_Win_create(base, size, static_cast<int>(unit), info, comm, window),
                  PMPI_Win_create_c(base, size, unit, info, comm, window));
}

STEELYARD_EXPORT int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                                        MPI_Win* window) {
  ORDINARY_IF_FIT(({unit}), MPI_Win_allocate(size, static_cast<int>(unit), info, comm, base, window),
                  PMPI_Win_allocate_c(size, unit, info, comm, base, window));
}

STEELYARD_EXPORT int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                                               MPI_Win* window) {
  ORDINARY_IF_FIT(({unit}), MPI_Win_allocate_shared(size, static_cast<int>(unit), info, comm, base, window),
                  PMPI_Win_allocate_shared_c(size, unit, info, comm, base, window));
}

STEELYARD_EXPORT int MPI_Gatherv_c(const void* from, MPI_Count count, MPI_Datatype type, void* to,
                                   const MPI_Count counts[], const MPI_Aint places[], MPI_Datatype to_type, int root,
                                   MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Gatherv_c(from, count, type, to, counts, places, to_type, root, comm));
}

STEELYARD_EXPORT int MPI_Scatterv_c(const void* from, const MPI_Count counts[], const MPI_Aint places[],
                                    MPI_Datatype type, void* to, MPI_Count to_count, MPI_Datatype to_type, int root,
                                    MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Scatterv_c(from, counts, places, type, to, to_count, to_type, root, comm));
}

STEELYARD_EXPORT int MPI_Allgatherv_c(const void* from, MPI_Count count, MPI_Datatype type, void* to,
                                      const MPI_Count counts[], const MPI_Aint places[], MPI_Datatype to_type,
                                      MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Allgatherv_c(from, count, type, to, counts, places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_allgatherv_c(const void* from, MPI_Count count, MPI_Datatype type, void* to,
                                               const MPI_Count counts[], const MPI_Aint places[], MPI_Datatype to_type,
                                               MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_allgatherv_c(from, count, type, to, counts, places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Alltoallv_c(const void* from, const MPI_Count counts[], const MPI_Aint places[],
                                     MPI_Datatype type, void* to, const MPI_Count to_counts[],
                                     const MPI_Aint to_places[], MPI_Datatype to_type, MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Alltoallv_c(from, counts, places, type, to, to_counts, to_places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_alltoallv_c(const void* from, const MPI_Count counts[], const MPI_Aint places[],
                                              MPI_Datatype type, void* to, const MPI_Count to_counts[],
                                              const MPI_Aint to_places[], MPI_Datatype to_type, MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_alltoallv_c(from, counts, places, type, to, to_counts, to_places, to_type, comm));
}

STEELYARD_EXPORT int MPI_Alltoallw_c(const void* from, const MPI_Count counts[], const MPI_Aint places[],
                                     const MPI_Datatype types[], void* to, const MPI_Count to_counts[],
                                     const MPI_Aint to_places[], const MPI_Datatype to_types[], MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Alltoallw_c(from, counts, places, types, to, to_counts, to_places, to_types, comm));
}

STEELYARD_EXPORT int MPI_Neighbor_alltoallw_c(const void* from, const MPI_Count counts[], const MPI_Aint places[],
                                              const MPI_Datatype types[], void* to, const MPI_Count to_counts[],
                                              const MPI_Aint to_places[], const MPI_Datatype to_types[],
                                              MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Neighbor_alltoallw_c(from, counts, places, types, to, to_counts, to_places, to_types, comm));
}

STEELYARD_EXPORT int MPI_Reduce_scatter_c(const void* from, void* to, const MPI_Count counts[], MPI_Datatype type,
                                          MPI_Op op, MPI_Comm comm) {
  STEELYARD_TIMED(PMPI_Reduce_scatter_c(from, to, counts, type, op, comm));
}

}  // extern "C"

#endif
