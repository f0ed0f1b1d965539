// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include "node/bootstrap.h"

// The one Session of a process: node, observe and the capabilities that are switched on. `intercept` and the API
// translate foreign calls into the calls below and in these headers, and do nothing else. All are cheap no-ops before
// start() and after finish(), except BlockingCall, which needs measures_this_call().
//
// | header          | events |
// |-----------------|--------|
// | waits.h         | blocking MPI calls, and waits outside of MPI |
// | communicators.h | which processes of the node take part in a collective |
// | collectives.h   | broadcasts and scatters that Steelyard delivers |
// | accelerator.h   | waits for an accelerator |
// | openmp.h        | parallel regions, their threads, and the program's thread count |
// | worksharing.h   | the loops of parallel regions |
// | steps.h         | steps of the program's main loop; efficiencies until now |
// | named_regions.h | steelyard_region_begin() and steelyard_region_end() |
// | pause.h         | steelyard_pause() and steelyard_resume() |
// | phases.h        | phases of steelyard/phases.h |
// | tasks.h         | task pools of steelyard/tasks.h |
// | program_cores.h | cores that the program lends and acquires by steelyard/cores.h |
namespace steelyard::session {

/// After MPI_Init returned, by the thread that called it. Collective over the world. Creates the Session, and
/// prints the header line.
void start(std::unique_ptr<node::Bootstrap> bootstrap, const char* language);
/// Before MPI_Finalize is called. Collective over the world. Writes the run record and prints the summary.
void finish();
/// From MPI_Abort, before it is passed on.
void aborting(int code);

/// Empty if this process is measured; otherwise why not.
std::string inactive_reason();
/// True if this thread's blocking MPI calls are to be measured, and may leave the core: the primary thread,
/// outside of parallel regions, between start() and finish(). If false, the caller goes straight to the MPI library.
bool measures_this_call();

}  // namespace steelyard::session
