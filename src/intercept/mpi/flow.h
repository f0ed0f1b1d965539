// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "intercept/mpi/communicator.h"
#include "intercept/mpi/library.h"
#include "session/waits.h"

// The ranks on which a collective's result at this rank depends, by MPI's definition of the data flow and by nothing
// more: a program may rely on a broadcast's root not waiting. Zero elements depend on no rank. Each function returns a
// flow: asked with the communicator, it answers with the dependence there.
namespace steelyard::intercept {

struct Flow {
  session::Dependence dependence;
  int root = 0;
};

/// The library refuses the call at this rank alone: it is no collective.
inline constexpr Flow kRefused = {session::Dependence::none, -1};

inline bool carries(MPI_Count count, MPI_Datatype type) {
  int size = 0;
  return count > 0 && type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0;
}

inline auto all_if(bool some) {
  return [some](const Communicator&) -> Flow { return {some ? session::Dependence::all : session::Dependence::none}; };
}

inline auto barrier() {
  return [](const Communicator&) -> Flow { return {session::Dependence::barrier}; };
}
/// A rank needs those before it; the runtime has no name for that.
inline auto scan() { return all_if(false); }

/// Allreduce, allgather, alltoall, reduce_scatter_block: `count` elements come from (or through) each.
inline auto all_to_all(int count, MPI_Datatype type) {
  return [=](const Communicator& c) { return all_if(carries(count, type))(c); };
}

/// Bcast and scatter: `count` elements at this rank come from the root.
inline auto root_to_all(int root, MPI_Count count, MPI_Datatype type) {
  return [=](const Communicator& c) -> Flow {
    const bool waits = c.rank != root && carries(count, type);
    return {waits ? session::Dependence::root : session::Dependence::none, root};
  };
}

/// Gather and reduce: `count` elements from each, at the root.
inline auto all_to_root(int root, int count, MPI_Datatype type) {
  return [=](const Communicator& c) -> Flow {
    const bool waits = c.rank == root && carries(count, type);
    return {waits ? session::Dependence::all : session::Dependence::none, root};
  };
}

/// Allgatherv and alltoallv: counts[i] elements of types(i) come from rank i.
template <typename Types>
auto each_to_all(const int* counts, Types types) {
  return [=](const Communicator& c) -> Flow {
    if (counts == nullptr) return kRefused;
    bool all = true;
    for (int i = 0; all && i < c.size; ++i) all = carries(counts[i], types(i));
    return all_if(all)(c);
  };
}
inline auto each_to_all(const int* counts, MPI_Datatype type) {
  return each_to_all(counts, [type](int) { return type; });
}

/// Gatherv: the same at the root.
inline auto each_to_root(int root, const int* counts, MPI_Datatype type) {
  return [=](const Communicator& c) -> Flow {
    if (c.rank != root) return {session::Dependence::none, root};
    if (counts == nullptr) return kRefused;
    return {each_to_all(counts, type)(c).dependence, root};
  };
}

/// Reduce_scatter: my part, counts[rank] elements, is made from those of all ranks.
inline auto all_to_mine(const int* counts, MPI_Datatype type) {
  return [=](const Communicator& c) -> Flow {
    if (counts == nullptr) return kRefused;
    return all_if(carries(counts[c.rank], type))(c);
  };
}

}  // namespace steelyard::intercept
