// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "observe/record.h"

namespace steelyard::observe {

/// Why broadcasts that Steelyard was to take over were the MPI library's, the most frequent reason first: "handled by
/// the MPI library: 20 of 1000 broadcasts, because ...". For each reason, of the rank that has most of them.
std::vector<std::string> left_broadcasts(const RunRecord& record);
/// The same of its scatters.
std::vector<std::string> left_scatters(const RunRecord& record);

/// Of broadcasts and scatters through shared memory, if trials did not compare both ways.
std::string why_gain_is_unknown(const RunRecord& record);

/// True where the user has asked for Steelyard's broadcasts by name, and so expects them.
bool asked_for_broadcasts(const RunRecord& record);

}  // namespace steelyard::observe
