// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives from Fortran.
#include <dlfcn.h>

#include <algorithm>

#include "intercept/mpi/broadcast.h"
#include "intercept/mpi/collective.h"
#include "intercept/mpi/fortran.h"
#include "intercept/mpi/scatter.h"

using F = MPI_Fint;

namespace steelyard::intercept {

inline MPI_Datatype c(const F* type) { return PMPI_Type_f2c(*type); }

/// A constant of Fortran's is a variable of the library's, under one of these names.
struct FortranConstant {
  explicit FortranConstant(const std::string& lower, const char* upper)
      : addresses{dlsym(RTLD_DEFAULT, (lower + "_").c_str()), dlsym(RTLD_DEFAULT, lower.c_str()),
                  dlsym(RTLD_DEFAULT, (lower + "__").c_str()), dlsym(RTLD_DEFAULT, upper)} {}
  bool operator==(const void* buffer) const { return buffer != nullptr && std::ranges::count(addresses, buffer) != 0; }
  const void* addresses[4];
};

inline void* c_buffer(void* buffer) {
  static const FortranConstant bottom("mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM");
  static const FortranConstant in_place("mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE");
  return bottom == buffer ? MPI_BOTTOM : in_place == buffer ? MPI_IN_PLACE : buffer;
}

template <Name binding>
void measure_bcast(Site site, void* buffer, F* count, F* type, F* root, F* comm, F* ierror) {
  broadcast(
      site, {c_buffer(buffer), *count, c(type), *root, PMPI_Comm_f2c(*comm)}, false,
      [&] { next<"mpi_bcast", binding>(buffer, count, type, root, comm, ierror); },
      [&](int error) { set_error(ierror, error); });
}

template <Name binding>
void measure_scatter(Site site, void* from, F* count, F* type, void* to, F* to_count, F* to_type, F* root, F* comm,
                     F* ierror) {
  scatter(
      site, {c_buffer(from), *count, c(type), c_buffer(to), *to_count, c(to_type), *root, PMPI_Comm_f2c(*comm)},
      [&] { next<"mpi_scatter", binding>(from, count, type, to, to_count, to_type, root, comm, ierror); },
      [&](int error) { set_error(ierror, error); });
}

}  // namespace steelyard::intercept

#define WEIGH(name, parameters, arguments, flow)                                          \
  namespace steelyard::intercept {                                                        \
  template <Name binding>                                                                 \
  void measure_##name(Site site, STEELYARD_UNWRAP parameters) {                           \
    collective(                                                                           \
        site, PMPI_Comm_f2c(*comm), flow, [&] { next<"mpi_" #name, binding> arguments; }, \
        [&](int error) { set_error(ierror, error); });                                    \
  }                                                                                       \
  }
#define COLLECTIVE(name, parameters, arguments, flow) \
  WEIGH(name, parameters, arguments, flow)            \
  STEELYARD_FORTRAN_BUFFER(name, parameters, arguments)

WEIGH(barrier, (F * comm, F* ierror), (comm, ierror), barrier())
STEELYARD_FORTRAN(barrier, (F * comm, F* ierror), (comm, ierror))

STEELYARD_FORTRAN_BUFFER(bcast, (void* buffer, F* count, F* type, F* root, F* comm, F* ierror),
                         (buffer, count, type, root, comm, ierror))

COLLECTIVE(reduce, (void* from, void* to, F* count, F* type, F* op, F* root, F* comm, F* ierror),
           (from, to, count, type, op, root, comm, ierror), all_to_root(*root, *count, c(type)))

COLLECTIVE(allreduce, (void* from, void* to, F* count, F* type, F* op, F* comm, F* ierror),
           (from, to, count, type, op, comm, ierror), all_to_all(*count, c(type)))

COLLECTIVE(scan, (void* from, void* to, F* count, F* type, F* op, F* comm, F* ierror),
           (from, to, count, type, op, comm, ierror), scan())

COLLECTIVE(exscan, (void* from, void* to, F* count, F* type, F* op, F* comm, F* ierror),
           (from, to, count, type, op, comm, ierror), scan())

COLLECTIVE(gather, (void* from, F* count, F* type, void* to, F* to_count, F* to_type, F* root, F* comm, F* ierror),
           (from, count, type, to, to_count, to_type, root, comm, ierror), all_to_root(*root, *to_count, c(to_type)))

COLLECTIVE(gatherv,
           (void* from, F* count, F* type, void* to, F* counts, F* places, F* to_type, F* root, F* comm, F* ierror),
           (from, count, type, to, counts, places, to_type, root, comm, ierror),
           each_to_root(*root, counts, c(to_type)))

STEELYARD_FORTRAN_BUFFER(scatter,
                         (void* from, F* count, F* type, void* to, F* to_count, F* to_type, F* root, F* comm,
                          F* ierror),
                         (from, count, type, to, to_count, to_type, root, comm, ierror))

COLLECTIVE(scatterv,
           (void* from, F* counts, F* places, F* type, void* to, F* to_count, F* to_type, F* root, F* comm, F* ierror),
           (from, counts, places, type, to, to_count, to_type, root, comm, ierror),
           root_to_all(*root, *to_count, c(to_type)))

COLLECTIVE(allgather, (void* from, F* count, F* type, void* to, F* to_count, F* to_type, F* comm, F* ierror),
           (from, count, type, to, to_count, to_type, comm, ierror), all_to_all(*to_count, c(to_type)))

COLLECTIVE(allgatherv, (void* from, F* count, F* type, void* to, F* counts, F* places, F* to_type, F* comm, F* ierror),
           (from, count, type, to, counts, places, to_type, comm, ierror), each_to_all(counts, c(to_type)))

COLLECTIVE(alltoall, (void* from, F* count, F* type, void* to, F* to_count, F* to_type, F* comm, F* ierror),
           (from, count, type, to, to_count, to_type, comm, ierror), all_to_all(*to_count, c(to_type)))

COLLECTIVE(alltoallv,
           (void* from, F* counts, F* places, F* type, void* to, F* to_counts, F* to_places, F* to_type, F* comm,
            F* ierror),
           (from, counts, places, type, to, to_counts, to_places, to_type, comm, ierror),
           each_to_all(to_counts, c(to_type)))

COLLECTIVE(alltoallw,
           (void* from, F* counts, F* places, F* types, void* to, F* to_counts, F* to_places, F* to_types, F* comm,
            F* ierror),
           (from, counts, places, types, to, to_counts, to_places, to_types, comm, ierror),
           each_to_all(to_counts, [=](int i) { return c(&to_types[i]); }))

COLLECTIVE(reduce_scatter, (void* from, void* to, F* counts, F* type, F* op, F* comm, F* ierror),
           (from, to, counts, type, op, comm, ierror), all_to_mine(counts, c(type)))

COLLECTIVE(reduce_scatter_block, (void* from, void* to, F* count, F* type, F* op, F* comm, F* ierror),
           (from, to, count, type, op, comm, ierror), all_to_all(*count, c(type)))
