// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace steelyard::node {

/// CPUs that the cgroup of this process may use at a time, e.g. 1.5; 0 where nothing limits them. `root`: for tests.
double cpu_quota(const std::string& root = "");

}  // namespace steelyard::node
