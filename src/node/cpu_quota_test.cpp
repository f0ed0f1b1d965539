// SPDX-License-Identifier: BSD-3-Clause
#include "node/cpu_quota.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace steelyard::node {
namespace {

/// A directory that goes away with the object.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "steelyard-node-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << bytes;
  }

 private:
  std::filesystem::path path_;
};

TEST(CpuQuota, TakesTheTightestOfTheGroupsAbove) {
  const Scratch root;
  root.write("proc/self/cgroup", "0::/user/job\n");
  root.write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 0);
  root.write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 1.5);
  root.write("sys/fs/cgroup/user/job/cpu.max", "400000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 1.5);
  root.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 0.5) << "a container sees its own limit at the root";
}

TEST(CpuQuota, ReadsVersionOne) {
  const Scratch root;
  root.write("proc/self/cgroup", "5:cpuset:/set\n4:cpu,cpuacct:/job\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cpu_quota(root / ""), 0);
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(cpu_quota(root / ""), 2);
}

TEST(CpuQuota, IsNoneWhereFilesAreMissingOrStrange) {
  const Scratch root;
  EXPECT_EQ(cpu_quota(root / ""), 0);
  root.write("proc/self/cgroup", "nonsense\n\n:\n0::/job\n");
  root.write("sys/fs/cgroup/job/cpu.max", "many\n");
  EXPECT_EQ(cpu_quota(root / ""), 0);
}

}  // namespace
}  // namespace steelyard::node
