// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "observe/sites.h"

// Which regions run with virtual threads (loops/virtual_team.h): those with more threads than the process has cores of
// its own. Cores that are lent come when the region has begun, and their threads wake up late: with a chunk for each
// thread, all would wait for the last of them.
namespace steelyard::session {

struct Session;

/// Before a region with `threads` threads: how many virtual ones it is to have; 0: none. With `--virtual-threads`
/// as many for each thread, in each region that can have them. A thread alone has none.
/// @param body the function that its threads run; null where that is not known
int virtual_threads(Session& session, observe::Site& site, int threads, const void* body, std::int64_t now);

/// After a region with virtual threads, each real one on a core of its own: its threads have computed for `busy` ns,
/// added up, and the process owns `cores`. Each virtual thread does anew what a region does outside of its loops, e.g.
/// allocates and clears an array of its own. A region that this makes too long goes without.
void learn_virtual_threads(observe::Site& site, std::int64_t busy, int cores);

}  // namespace steelyard::session
