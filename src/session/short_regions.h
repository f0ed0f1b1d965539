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

/// In place of region_begin(), where nothing need be measured of this execution: another one is due to be measured, and
/// the region has one thread whatever Steelyard does. To its rank, it is the same as code outside of regions. In all
/// figures, it takes as long as former executions. To measure its wall time would take half as long as GNU's OpenMP
/// runtime takes for a region of one thread (bench/region_cost.c).
/// @return false where it must be measured. Otherwise only estimated_region_end() follows, once the region has ended
bool estimated_region_begin(const RegionRequest& request);
void estimated_region_end();
/// The length (ns) of the executions that were estimated before this one, which is measured.
std::int64_t take_estimated(observe::Site& site);

/// Whether the threads of the next execution are measured; otherwise only its wall time is.
bool measures_threads(Session& session, observe::Site& site, const RegionRequest& request);

}  // namespace steelyard::session
