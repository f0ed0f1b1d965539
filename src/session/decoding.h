// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::session {

struct Session;

/// Whether there is time to decode the machine code of a further region (src/partition): all of it may take the
/// exploration budget, a share of the time since the start, beyond a loan. A program of a hundred regions that runs for
/// a second would lose a third of it. Regions that are executed often come first.
bool may_decode(const Session& session, std::int64_t now);

}  // namespace steelyard::session
