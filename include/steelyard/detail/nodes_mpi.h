/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_DETAIL_NODES_MPI_H
#define STEELYARD_DETAIL_NODES_MPI_H
/* Which ranks share memory. For tasks.h, and for the preload library, which calls PMPI. Private. */
#include <mpi.h>

#ifndef STEELYARD_MPI_FUNCTION
#define STEELYARD_MPI_FUNCTION(name) MPI_##name
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct steelyard_mpi_nodes {
  MPI_Comm here; /* the ranks of this node; the caller frees it */
  int node_rank, node_size;
  int node, nodes; /* nodes count from 0 in the order of their lowest ranks */
};
/* Splits `all` by nodes. `ranks_per_node`: so many ranks count as a node, as tests need it; 0: all that share memory.
 * Collective over `all`. */
static inline struct steelyard_mpi_nodes steelyard_mpi_find_nodes(MPI_Comm all, int ranks_per_node) {
  struct steelyard_mpi_nodes found;
  MPI_Comm whole, leaders;
  int rank, place[2] = {0, 1};
  STEELYARD_MPI_FUNCTION(Comm_rank)(all, &rank);
  STEELYARD_MPI_FUNCTION(Comm_split_type)(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &whole);
  STEELYARD_MPI_FUNCTION(Comm_rank)(whole, &found.node_rank);
  /* Always, as it is collective: the ranks may have been given different numbers, which is found out later. */
  STEELYARD_MPI_FUNCTION(Comm_split)
  (whole, ranks_per_node > 0 ? found.node_rank / ranks_per_node : 0, rank, &found.here);
  STEELYARD_MPI_FUNCTION(Comm_free)(&whole);
  STEELYARD_MPI_FUNCTION(Comm_rank)(found.here, &found.node_rank);
  STEELYARD_MPI_FUNCTION(Comm_size)(found.here, &found.node_size);
  STEELYARD_MPI_FUNCTION(Comm_split)(all, found.node_rank == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
  if (leaders != MPI_COMM_NULL) {
    STEELYARD_MPI_FUNCTION(Comm_rank)(leaders, &place[0]);
    STEELYARD_MPI_FUNCTION(Comm_size)(leaders, &place[1]);
    STEELYARD_MPI_FUNCTION(Comm_free)(&leaders);
  }
  STEELYARD_MPI_FUNCTION(Bcast)(place, 2, MPI_INT, 0, found.here);
  found.node = place[0];
  found.nodes = place[1];
  return found;
}
#undef STEELYARD_MPI_FUNCTION

#ifdef __cplusplus
}
#endif
#endif
