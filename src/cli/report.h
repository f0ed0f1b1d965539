// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace steelyard::cli {

enum class ReportForm { summary, full, json };

/// The newest run record in `folder` with a name by default, "steelyard-run*.json" or, of a process without
/// MPI, "steelyard-run*.json.RANK"; "" if there is none.
std::string newest_record(const std::string& folder = ".");

/// Prints a run record. `named`: by the user; otherwise it is the newest one here, and it is said which run that was.
/// Returns the exit status, 1 where the record cannot be read (having said why).
int report(const std::string& path, bool named, ReportForm form);

}  // namespace steelyard::cli
