// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace steelyard::node {

/// CPUs that the cgroup of this process may use at a time, e.g. 1.5; 0 where nothing limits them. `root`: for tests.
double cpu_quota(const std::string& root = "");

/// Core s for which quotas have kept the threads of this process's cgroup from running so far, by `cpu.stat`: the most
/// of the groups above that have a quota. 0 where none has, or the kernel does not tell. `root`: for tests.
double throttled_time(const std::string& root = "");

/// The CPUs that the cgroup of this process allows, as the kernel lists them: "0-7,16". Empty if the kernel does not
/// tell. `root`: for tests.
std::string allowed_cpus(const std::string& root = "");

}  // namespace steelyard::node
