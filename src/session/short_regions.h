// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "observe/sites.h"
#include "session/openmp.h"
#include "session/waits.h"

// Regions that are so short that to measure each execution would take a notable share of their time.
namespace steelyard::session {

struct Session;

/// 50 us: to measure the threads of a region costs 0.25 us (bench/cores.py --only region-cost), 0.5 % of that. If a
/// region is shorter, the threads of one execution in several are measured, chosen at random. It borrows no cores.
inline constexpr float kShort = kWorthBorrowing / 4;

/// The cell of all threads in a region whose threads are not measured. Never written.
extern observe::ThreadCell g_no_cell;

/// Begins a region in place of region_begin(), if it has one thread now (OpenMP: an inactive region) and a later
/// execution will be measured. To its rank, such a region is a part of the code around it, so that only the time of
/// its begin and end is read. region_begin() and region_end() take half as long as GNU's OpenMP runtime itself takes
/// for such a region (bench/region_cost.c).
/// @return true if it has: then inactive_region_end() is to follow, and nothing else. Only in the primary thread
bool inactive_region_begin(const RegionRequest& request);
void inactive_region_end();

/// Whether the threads of the next execution are measured; otherwise only its wall time is.
bool measures_threads(Session& session, observe::Site& site, const RegionRequest& request);

}  // namespace steelyard::session
