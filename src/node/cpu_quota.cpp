// SPDX-License-Identifier: BSD-3-Clause
#include "node/cpu_quota.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace steelyard::node {
namespace {

/// "max 100000" or "150000 100000": microseconds of CPU in each period.
double quota_in(std::istream&& file) {
  double quota = 0, period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

double tighter(double a, double b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

double number_in(const std::filesystem::path& file) {
  double number = 0;
  std::ifstream(file) >> number;
  return number;
}

}  // namespace

double cpu_quota(const std::string& root) {
  double quota = 0;
  std::ifstream cgroups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(cgroups, line);) {
    // "0::/user/job" is version 2, where every group above may limit, too; "4:cpu,cpuacct:/job" is version 1.
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    auto group = std::filesystem::path(line.substr(second + 1)).relative_path();
    const std::filesystem::path mount = root + "/sys/fs/cgroup";
    if (controllers.find(",cpu,") != std::string::npos) {
      const double period = number_in(mount / "cpu" / group / "cpu.cfs_period_us");
      const double allowed = number_in(mount / "cpu" / group / "cpu.cfs_quota_us");
      if (period > 0 && allowed > 0) quota = tighter(quota, allowed / period);
    }
    if (controllers != ",,") continue;
    for (;; group = group.parent_path()) {
      quota = tighter(quota, quota_in(std::ifstream(mount / group / "cpu.max")));
      if (group.empty()) break;
    }
  }
  return quota;
}

}  // namespace steelyard::node
