// SPDX-License-Identifier: BSD-3-Clause
// Windows for one-sided accesses, and the waits for their completion, from C.
#include "intercept/mpi/windows.h"

#include "intercept/mpi/call.h"

namespace steelyard::intercept {

namespace {

int g_key = MPI_KEYVAL_INVALID;

int on_free(MPI_Win, int, void*, void*) {
  session::window_freed();
  return MPI_SUCCESS;
}

template <typename Native>
int make(Site site, MPI_Win* window, Native native) {
  const int error = timed(site, native);
  if (error == MPI_SUCCESS) window_made(*window);
  return error;
}

}  // namespace

void remember_windows() { PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_free, &g_key, nullptr); }

void forget_windows() {
  if (g_key != MPI_KEYVAL_INVALID) PMPI_Win_free_keyval(&g_key);
}

// Accesses to shared windows are loads and stores: no other process has to advance them.
bool is_shared_memory(MPI_Win window) {
  int* flavour = nullptr;
  int known = 0;
  PMPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&flavour), &known);
  return known != 0 && *flavour == MPI_WIN_FLAVOR_SHARED;
}

// An attribute goes with its window: no window is counted that was made unseen, and none is freed unseen.
void window_made(MPI_Win window) {
  if (is_shared_memory(window)) return;
  if (g_key == MPI_KEYVAL_INVALID || PMPI_Win_set_attr(window, g_key, &g_key) != MPI_SUCCESS) return;
  session::window_made();
}

}  // namespace steelyard::intercept

using namespace steelyard::intercept;

#define MAKE(native) return make(STEELYARD_SITE, window, [&] { return native; })

extern "C" {

STEELYARD_EXPORT int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                                    MPI_Win* window) {
  MAKE(PMPI_Win_create(base, size, unit, info, comm, window));
}

STEELYARD_EXPORT int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                      MPI_Win* window) {
  MAKE(PMPI_Win_allocate(size, unit, info, comm, base, window));
}

STEELYARD_EXPORT int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                             MPI_Win* window) {
  MAKE(PMPI_Win_allocate_shared(size, unit, info, comm, base, window));
}

STEELYARD_EXPORT int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  MAKE(PMPI_Win_create_dynamic(info, comm, window));
}

STEELYARD_EXPORT int MPI_Win_free(MPI_Win* window) { STEELYARD_TIMED(PMPI_Win_free(window)); }

STEELYARD_EXPORT int MPI_Win_fence(int hints, MPI_Win window) { STEELYARD_TIMED(PMPI_Win_fence(hints, window)); }

STEELYARD_EXPORT int MPI_Win_complete(MPI_Win window) { STEELYARD_TIMED(PMPI_Win_complete(window)); }

STEELYARD_EXPORT int MPI_Win_wait(MPI_Win window) { STEELYARD_TIMED(PMPI_Win_wait(window)); }

STEELYARD_EXPORT int MPI_Win_lock(int kind, int rank, int hints, MPI_Win window) {
  STEELYARD_TIMED(PMPI_Win_lock(kind, rank, hints, window));
}

STEELYARD_EXPORT int MPI_Win_lock_all(int hints, MPI_Win window) { STEELYARD_TIMED(PMPI_Win_lock_all(hints, window)); }

STEELYARD_EXPORT int MPI_Win_start(MPI_Group group, int hints, MPI_Win window) {
  STEELYARD_TIMED(PMPI_Win_start(group, hints, window));
}

STEELYARD_EXPORT int MPI_Win_unlock(int rank, MPI_Win window) { STEELYARD_TIMED(PMPI_Win_unlock(rank, window)); }

STEELYARD_EXPORT int MPI_Win_unlock_all(MPI_Win window) { STEELYARD_TIMED(PMPI_Win_unlock_all(window)); }

STEELYARD_EXPORT int MPI_Win_flush(int rank, MPI_Win window) { STEELYARD_TIMED(PMPI_Win_flush(rank, window)); }

STEELYARD_EXPORT int MPI_Win_flush_all(MPI_Win window) { STEELYARD_TIMED(PMPI_Win_flush_all(window)); }

STEELYARD_EXPORT int MPI_Win_flush_local(int rank, MPI_Win window) {
  STEELYARD_TIMED(PMPI_Win_flush_local(rank, window));
}

STEELYARD_EXPORT int MPI_Win_flush_local_all(MPI_Win window) { STEELYARD_TIMED(PMPI_Win_flush_local_all(window)); }

}  // extern "C"
