// SPDX-License-Identifier: BSD-3-Clause
// From MPI_Init to MPI_Finalize, from C.
#include "intercept/mpi/lifetime.h"

#include <memory>

#include "intercept/awaiting.h"
#include "intercept/mpi/bootstrap.h"
#include "intercept/mpi/call.h"
#include "intercept/mpi/communicator.h"
#include "intercept/mpi/layout.h"
#include "intercept/mpi/step_aside.h"
#include "intercept/mpi/windows.h"

#define STEELYARD_WITHOUT_MPI
#include "steelyard/phases.h"
#include "steelyard/tasks.h"

// Functions of libsteelyard: null in programs that do not link it.
#pragma weak steelyard_internal_task_pools_finalize
#pragma weak steelyard_internal_phases_finalize

namespace steelyard::intercept {

namespace {

int with_start(int error) {
  if (error == MPI_SUCCESS) initialised(t_caller != 0 ? "Fortran" : "C");
  return error;
}

}  // namespace

void initialised(const char* language) {
  if (remembering()) return;
  if (!library_has_our_abi()) return step_aside();
  mpi_begins();
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  session::start(std::make_unique<MpiBootstrap>(), language);
  prepare_layouts();
  remember_communicators(provided == MPI_THREAD_MULTIPLE);
  remember_windows();
}

void finalising() {
  // What follows is collective over the world: other ranks may be waiting for this one in a pool or a phase.
  if (steelyard_internal_task_pools_finalize != nullptr) steelyard_internal_task_pools_finalize();
  if (steelyard_internal_phases_finalize != nullptr) steelyard_internal_phases_finalize();
  forget_windows();
  forget_communicators();
  end_layouts();
  session::finish();
}

}  // namespace steelyard::intercept

using namespace steelyard::intercept;

extern "C" {

STEELYARD_EXPORT int MPI_Init(int* argc, char*** argv) { return with_start(PMPI_Init(argc, argv)); }

STEELYARD_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return with_start(PMPI_Init_thread(argc, argv, required, provided));
}

STEELYARD_EXPORT int MPI_Finalize() {
  finalising();
  return PMPI_Finalize();
}

STEELYARD_EXPORT int MPI_Abort(MPI_Comm comm, int code) {
  steelyard::session::aborting(code);
  return PMPI_Abort(comm, code);
}

}  // extern "C"
