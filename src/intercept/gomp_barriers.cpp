// SPDX-License-Identifier: BSD-3-Clause
// Barriers of GNU's OpenMP runtime. A thread that waits at one has no work: OpenMP load balance is
// computed from these waits.
#include "intercept/gomp.h"
#include "session/openmp.h"

namespace steelyard::intercept::gomp {

// A worker that has ended its part executes tasks at the barrier at the end of the outermost region: it has no Place.
bool in_measured_region() {
  if (!is_gnu()) return false;
  const session::Place* const here = session::place();
  if (here == nullptr) return session::t_places.depth == 0;
  return here->region != nullptr && here->region->measured();
}

Wait::Wait() : measured_(in_measured_region()) {
  if (measured_) session::barrier_begin();
}

Wait::~Wait() {
  if (measured_) session::barrier_end();
}

}  // namespace steelyard::intercept::gomp

using namespace steelyard::intercept;
using steelyard::intercept::gomp::Wait;

#define STEELYARD_BARRIER(name, Result) \
  STEELYARD_EXPORT Result name() {      \
    static Result (*real)() = nullptr;  \
    const Wait wait;                    \
    return behind(#name, real)();       \
  }
STEELYARD_BARRIER(GOMP_barrier, void)
STEELYARD_BARRIER(GOMP_barrier_cancel, bool)
STEELYARD_BARRIER(GOMP_sections_end, void)
STEELYARD_BARRIER(GOMP_sections_end_cancel, bool)
// In it, all threads but one wait for the data of that thread.
STEELYARD_BARRIER(GOMP_single_copy_start, void*)

// The end of a worksharing construct with task reductions. There is a barrier in it.
STEELYARD_EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  static void (*real)(bool) = nullptr;
  const Wait wait;
  behind("GOMP_workshare_task_reduction_unregister", real)(cancelled);
}
