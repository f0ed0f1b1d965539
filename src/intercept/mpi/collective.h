// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "intercept/mpi/call.h"
#include "intercept/mpi/communicator.h"
#include "intercept/mpi/flow.h"

namespace steelyard::intercept {

/// Waits where the data flow makes this rank wait anyway, then calls the library's own collective: its algorithm, and
/// with it the bits of every reduction, stay as they are.
/// `communicator`: as at_collective() gave it. `answer`: makes the wrapper's result of an error code, where the
/// call has ended without the library.
template <typename FlowOf, typename Native, typename Answer>
auto collective(Site site, const Communicator* communicator, FlowOf flow_of, Native native, Answer answer) {
  if (communicator == nullptr) return timed(site, native);
  // A wrong root is the library's to refuse, at this rank alone: it is no collective.
  const Flow flow = flow_of(*communicator);
  const bool valid = flow.root >= 0 && flow.root < communicator->size;
  const bool followed = valid && communicator->on_node != nullptr;
  if (const PassedOn passed_on{}) {
    if (followed) announce(*communicator);
    return native();
  }
  Call call(site);
  if (valid && communicator->spans_world) call.is_step_mark();
  if (followed && call.arrive(communicator->on_node, flow.dependence, flow.root)) return answer(MPI_SUCCESS);
  return native();
}

template <typename FlowOf, typename Native, typename Answer>
auto collective(Site site, MPI_Comm handle, FlowOf flow_of, Native native, Answer answer) {
  if (!remembering()) return native();
  return collective(site, at_collective(handle), flow_of, native, answer);
}

}  // namespace steelyard::intercept
