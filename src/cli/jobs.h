// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "observe/live.h"

namespace steelyard::cli {

/// What runs under Steelyard on this node and belongs to this user, or to any user if this one is root: one view per
/// job and node, by the shared segment that the job's leader has open. `others`: jobs of another version of Steelyard.
std::vector<observe::LiveView> find_jobs(int& others);

/// The same, each with the path of its segment and its user. `proc`: where the kernel lists processes.
struct RunningJob {
  observe::LiveView view;
  std::string file;
  uid_t owner = 0;
};
std::vector<RunningJob> find_running_jobs(int& others, const std::string& proc = "/proc");

/// What the user must know of jobs of another version; "" if there are none.
std::string of_other_versions(int jobs);

/// Opens what a process of this user has open as a segment. -1 if it is anything but a regular file of this user.
int open_segment(const std::string& path, uid_t owner, int access);

}  // namespace steelyard::cli
