// SPDX-License-Identifier: BSD-3-Clause
#include "node/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace steelyard::node {
namespace {

namespace fs = std::filesystem;

/// A hierarchy of cgroups as this process sees it.
struct Mount {
  fs::path root;   ///< the group that is mounted, "/" for the whole hierarchy
  fs::path point;  ///< where
  bool version_2 = false;
};

/// "\040" of /proc/self/mountinfo is a blank.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool lists(std::string_view words, std::string_view word) {
  return ("," + std::string(words) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

/// Where groups with this controller are mounted: version 2, and the hierarchy of version 1 that has the controller.
std::vector<Mount> mounts_of(std::string_view controller, const std::string& file) {
  std::vector<Mount> mounts;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    // "33 31 0:30 ROOT POINT rw,relatime shared:9 - cgroup SOURCE rw,cpu"; proc(5) says how many words may be between.
    std::istringstream words(line);
    std::string word, root, point, type, source, options;
    words >> word >> word >> word >> root >> point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    if (type == "cgroup2" || (type == "cgroup" && lists(options, controller)))
      mounts.push_back({unescaped(root), unescaped(point), type == "cgroup2"});
  }
  return mounts;
}

/// The part of `group` below `root`. Empty if the group is not in that part of the hierarchy, or if a cgroup namespace
/// hides where it is ("/.."): all groups here that are above it are then at the mount point.
fs::path below(const fs::path& group, const fs::path& root) {
  const auto relative = group.lexically_relative(root);
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return inside && relative != "." ? relative : fs::path();
}

/// "max 100000" or "150000 100000": microseconds of CPU in each period. 0: no limit.
double quota_in(std::istream&& file) {
  double quota = 0, period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

double number_in(const fs::path& file) {
  double number = 0;
  std::ifstream(file) >> number;
  return number;
}

double quota_of(const fs::path& directory, bool version_2) {
  if (version_2) return quota_in(std::ifstream(directory / "cpu.max"));
  const double period = number_in(directory / "cpu.cfs_period_us");
  const double allowed = number_in(directory / "cpu.cfs_quota_us");  // -1: no limit
  return period > 0 && allowed > 0 ? allowed / period : 0;
}

/// "throttled_usec 1234" of version 2, "throttled_time 1234567" (ns) of version 1. s
double throttled_in(const fs::path& file) {
  std::ifstream stat(file);
  std::string name;
  for (double value = 0; stat >> name >> value;) {
    if (name == "throttled_usec") return 1e-6 * value;
    if (name == "throttled_time") return 1e-9 * value;
  }
  return 0;
}

double tighter(double a, double b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// `visit` for each directory whose limits of this controller hold for this process, from the process's own group up.
template <typename Visit>
void for_each_group(const std::string& controller, const std::string& root, Visit visit) {
  auto mounts = mounts_of(controller, root + "/proc/self/mountinfo");
  if (mounts.empty()) mounts = {{"/", "/sys/fs/cgroup", true}, {"/", "/sys/fs/cgroup/" + controller, false}};
  std::ifstream cgroups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(cgroups, line);) {
    // "0::/user/job" is version 2; "4:cpu,cpuacct:/job" is version 1. In both, each group above limits, too.
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const bool version_2 = controllers.empty();
    if (!version_2 && !lists(controllers, controller)) continue;
    for (const Mount& mount : mounts) {
      if (mount.version_2 != version_2) continue;
      for (auto group = below(line.substr(second + 1), mount.root);; group = group.parent_path()) {
        visit(fs::path(root + mount.point.string()) / group, version_2);
        if (group.empty()) break;
      }
    }
  }
}

}  // namespace

double cpu_quota(const std::string& root) {
  double quota = 0;
  for_each_group("cpu", root,
                 [&](const fs::path& group, bool version_2) { quota = tighter(quota, quota_of(group, version_2)); });
  return quota;
}

double throttled_time(const std::string& root) {
  double seconds = 0;
  for_each_group("cpu", root, [&](const fs::path& group, bool version_2) {
    if (quota_of(group, version_2) > 0) seconds = std::max(seconds, throttled_in(group / "cpu.stat"));
  });
  return seconds;
}

std::string allowed_cpus(const std::string& root) {
  std::string list;
  for_each_group("cpuset", root, [&](const fs::path& group, bool version_2) {
    if (list.empty()) std::ifstream(group / (version_2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus")) >> list;
  });
  return list;
}

}  // namespace steelyard::node
