#pragma once
#include <string>
#include <vector>

#include "observe/record.h"

namespace steelyard::observe {

/// The end verdict, at most 15 lines of at most 100 columns: efficiency, who waited for whom, what was moved and what it
/// gained with its noise band, or why nothing was moved. Pure: the live program and `steelyard report` print the same text.
std::vector<std::string> verdict(const RunRecord& record);

/// The full report in plain text: the verdict, a table of ranks, the decisions with reasons and outcomes.
std::string full_report(const RunRecord& record);

}  // namespace steelyard::observe
