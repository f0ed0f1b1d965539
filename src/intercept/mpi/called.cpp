// SPDX-License-Identifier: BSD-3-Clause
// steelyard_bcast(), where the program was started under `steelyard run`: from C, and from Fortran.
#include "intercept/mpi/broadcast.h"
#include "session/collectives.h"
#include "steelyard/collectives.h"

using namespace steelyard::intercept;

namespace {

int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  steelyard::session::collectives_account().called();
  return broadcast(
      STEELYARD_SITE, {buffer, count, type, root, comm}, true,
      [&] { return PMPI_Bcast(buffer, count, type, root, comm); }, [](int error) { return error; });
}

}  // namespace

extern "C" {

steelyard_internal_function_t steelyard_internal_bcast(void) {
  return reinterpret_cast<steelyard_internal_function_t>(bcast);
}

void steelyard_internal_next_bcast(void) {
  t_next_is_called = true;
  steelyard::session::collectives_account().called();
}

}  // extern "C"
