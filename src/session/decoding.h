// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::session {

struct Session;

/// Whether there is time to decode the machine code of a further region (src/partition). All decoding of a process may
/// take the exploration budget, a share of the time since the start, and all decoding of a node a loan before that. A
/// program of a hundred regions that runs for a second would lose a third of it. Regions that are executed often come
/// first.
bool may_decode(const Session& session, std::int64_t now);
/// The same for the queries of a region's body. False while another process of the node decodes them. If true,
/// partition::may_ask() or release() is to follow.
/// @param body null where that is not known
bool may_decode_queries(const Session& session, const void* body, std::int64_t now);

}  // namespace steelyard::session
