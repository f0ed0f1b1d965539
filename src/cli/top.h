// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "observe/live.h"

namespace steelyard::cli {

/// What runs under Steelyard on this node and belongs to this user: one view a job and node, by the shared segment that
/// the job's leader has open. `proc`: where the kernel lists processes.
std::vector<observe::LiveView> find_jobs(const std::string& proc = "/proc");

/// One look as text, or as one line of JSON. Rates are those since `before`, the last look at the same jobs, where
/// there is one; else since the start. `now`: base::now_ns().
std::string jobs_as_text(const std::vector<observe::LiveView>& jobs, const std::vector<observe::LiveView>& before,
                         std::int64_t now);
std::string jobs_as_json(const std::vector<observe::LiveView>& jobs, const std::vector<observe::LiveView>& before,
                         std::int64_t now);

/// `steelyard top`: each second, until interrupted. Returns the exit status.
int top(bool once, bool json);

}  // namespace steelyard::cli
