// SPDX-License-Identifier: BSD-3-Clause
// From MPI_Init to MPI_Finalize, and the making of communicators, from Fortran.
#include <cstdlib>
#include <string>

#include "base/loaded_library.h"
#include "base/log.h"
#include "intercept/mpi/fortran.h"
#include "intercept/mpi/lifetime.h"

using F = MPI_Fint;

namespace steelyard::intercept {

void* library_function(const char* base, const char* binding) {
  const auto name = std::string(base).append(binding);
  if (void* function = base::next_or_opened(name.c_str()); function != nullptr) return function;
  base::warn("the program calls " + name +
             ", but no MPI library has it: link the program with MPI's Fortran libraries, or start it without "
             "`steelyard run`");
  std::abort();
}

template <Name binding>
void measure_init(Site, F* ierror) {
  const int error = ask<"mpi_init", binding>();
  if (error == MPI_SUCCESS) initialised("Fortran");
  set_error(ierror, error);
}

template <Name binding>
void measure_init_thread(Site, F* required, F* provided, F* ierror) {
  const int error = ask<"mpi_init_thread", binding>(required, provided);
  if (error == MPI_SUCCESS) initialised("Fortran");
  set_error(ierror, error);
}

template <Name binding>
void measure_finalize(Site, F* ierror) {
  finalising();
  next<"mpi_finalize", binding>(ierror);
}

template <Name binding>
void measure_abort(Site, F* comm, F* code, F* ierror) {
  session::aborting(*code);
  next<"mpi_abort", binding>(comm, code, ierror);
}

}  // namespace steelyard::intercept

STEELYARD_FORTRAN(init, (F * ierror), (ierror))
STEELYARD_FORTRAN(init_thread, (F * required, F* provided, F* ierror), (required, provided, ierror))
STEELYARD_FORTRAN(finalize, (F * ierror), (ierror))
STEELYARD_FORTRAN(abort, (F * comm, F* code, F* ierror), (comm, code, ierror))

STEELYARD_FORTRAN_TIMED(comm_dup, (F * comm, F* made, F* ierror), (comm, made, ierror))
STEELYARD_FORTRAN_TIMED(comm_split, (F * comm, F* color, F* key, F* made, F* ierror), (comm, color, key, made, ierror))
STEELYARD_FORTRAN_TIMED(comm_split_type, (F * comm, F* type, F* key, F* info, F* made, F* ierror),
                        (comm, type, key, info, made, ierror))
STEELYARD_FORTRAN_TIMED(comm_create, (F * comm, F* group, F* made, F* ierror), (comm, group, made, ierror))
STEELYARD_FORTRAN_TIMED(comm_free, (F * comm, F* ierror), (comm, ierror))
STEELYARD_FORTRAN_TIMED(intercomm_merge, (F * comm, F* high, F* made, F* ierror), (comm, high, made, ierror))
STEELYARD_FORTRAN_TIMED(cart_create, (F * comm, F* dimensions, F* sizes, F* periodic, F* reorder, F* made, F* ierror),
                        (comm, dimensions, sizes, periodic, reorder, made, ierror))
STEELYARD_FORTRAN_TIMED(cart_sub, (F * comm, F* kept, F* made, F* ierror), (comm, kept, made, ierror))
