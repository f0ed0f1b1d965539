// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <utility>

#include "api/guarded.h"
#include "session/session.h"

// What the calls share that change the measurement. In the preload library alone.
namespace steelyard::api {

/// The status of `call`, which is made only where the session measures: in the thread that called MPI_Init, outside
/// parallel regions.
template <class Call>
steelyard_status_t measured(const char* name, Call&& call) {
  return guarded(name, false, "", [&]() -> steelyard_status_t {
    if (!steelyard_active()) return STEELYARD_INACTIVE;
    if (!session::measures_this_call()) {
      return outcome(
          invalid_state("{}() has no effect inside a parallel region, or in a thread other than the one that called "
                        "MPI_Init: call it in that thread, outside parallel regions",
                        name));
    }
    return outcome(std::forward<Call>(call)());
  });
}

}  // namespace steelyard::api
