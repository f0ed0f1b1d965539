// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "observe/sites.h"

namespace steelyard::session {

struct Session;

/// Whether there is time to decode the machine code of a further region (src/partition). A process may decode for the
/// exploration budget, a share of the time since the start. Before that, the processes of a node have a loan together.
/// Without these limits, a program of a hundred regions that runs for a second would lose a third of it. Regions that
/// are executed often come first; a body of many kB waits until there is time for all of it.
/// @param site of the region. If the answer is no and the region is short, its next 255 executions, of 13 ms at most,
///             get the same answer: to find it out takes a lock and searches
/// @param body null if unknown
bool may_decode(const Session& session, observe::Site& site, const void* body, std::int64_t now);
/// Where there is time: whether this process decodes the queries of a region's body. False while another process of the
/// node does. If true, call partition::has_unproved_query() or release_decoding() next.
/// @param body null if unknown
bool decodes_queries(const void* body);

}  // namespace steelyard::session
