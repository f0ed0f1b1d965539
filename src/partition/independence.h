// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

#include "partition/image.h"

namespace steelyard::partition {

/// Why the threads of a team may not run a region's body one after the other in one thread, as the virtual threads of
/// loops/virtual_team.h do.
///
/// They may if no thread can wait for another, and no thread can tell in which thread it runs: neither the body nor
/// what it calls
/// 1. calls anything but functions of its own image, and functions of other objects known to wait for no thread;
/// 2. calls or jumps through a pointer;
/// 3. uses thread-local data, asks the system which thread it is, or changes how its thread rounds;
/// 4. has a loop that may wait for another thread (waiting_loop.h);
/// 5. has a thread query that is not proved (proof.h);
/// and it asks for the number of threads, by which static loops are divided.
/// All instructions of each function are examined, whether they can be reached or not.
///
/// @param body where the body begins
/// @return what an instruction does that speaks against it, e.g. "calls GOMP_barrier()"; empty if they may
std::string why_not_independent(const Image& image, std::uint64_t body);

}  // namespace steelyard::partition
