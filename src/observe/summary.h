// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "observe/record.h"

namespace steelyard::observe {

/// The summary at the end of a run, at most 20 lines of at most 100 columns. It has the efficiency, the critical ranks,
/// what was moved and what that gained with its confidence interval, or why nothing was moved. Pure: the live program
/// and `steelyard report` print the same text. `path`: where the record was written; gets the last line, which is as
/// long as the path makes it.
std::vector<std::string> summary(const RunRecord& record, const std::string& path = {});

/// The full report in plain text: the summary, what was run, tables of nodes, ranks and decisions with reasons and
/// outcomes, and all remarks.
std::string full_report(const RunRecord& record);

}  // namespace steelyard::observe
