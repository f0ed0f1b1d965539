// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "observe/live.h"

namespace steelyard::cli {

/// What runs under Steelyard on this node and belongs to this user, or to any user if this one is root: one view per
/// job and node, by the shared segment that the job's leader has open. `proc`: where the kernel lists processes.
std::vector<observe::LiveView> find_jobs(const std::string& proc = "/proc");

/// The same, each with the path of its segment.
struct RunningJob {
  observe::LiveView view;
  std::string file;
};
std::vector<RunningJob> find_running_jobs(const std::string& proc = "/proc");

}  // namespace steelyard::cli
