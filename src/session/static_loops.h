// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "loops/space.h"
#include "observe/record.h"
#include "session/worksharing.h"

// Plain static loops whose bounds the program asks the OpenMP runtime for (clang's): their parts are fitted to what
// each thread needed before. OpenMP gives each thread the same iterations in all loops of a region that have the same
// number of them. So parts belong to a region and an iteration count, and change only between two executions of the
// region.
namespace steelyard::session {

/// From now on, where the options say so.
void rebalance_static_loops();

/// What is known of the static loops of the region at this address, which this process's primary thread begins; null
/// where they keep even parts. Not for a region whose threads may divide by their numbers on their own.
struct StaticLoops;
StaticLoops* static_loops_of(std::uint64_t region);
/// All threads have left the region.
void static_loops_end(StaticLoops* loops);

/// This thread begins a static loop: its part, or false where that is left to the runtime.
bool static_loop_begun(Place& here, std::uint64_t site, std::uint64_t iterations, Part& part);
/// It has done its part.
void static_loop_ended(Place& here);

/// True where one was fitted, or could have been.
bool static_loops_seen();
void add_static_loop_records(std::vector<observe::LoopRecord>& records);

}  // namespace steelyard::session
