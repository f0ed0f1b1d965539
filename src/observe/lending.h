// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "observe/page.h"
#include "observe/record.h"

namespace steelyard::observe {

/// The lines of the summary about lent cores. Not printed if less than Thresholds::printed_core_time was lent.
/// @param sum the totals of all ranks
/// @param alone no core was moved: then the gain is that of lending
void say_lending(const RunRecord& record, const Totals& sum, bool alone, Page& page);

}  // namespace steelyard::observe
