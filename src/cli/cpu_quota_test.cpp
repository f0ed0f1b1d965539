#include "cli/cpu_quota.h"

#include <gtest/gtest.h>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

TEST(CpuQuota, TakesTheTightestOfTheGroupsAbove) {
  const testing_support::Scratch root;
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
  const testing_support::Scratch root;
  root.write("proc/self/cgroup", "5:cpuset:/set\n4:cpu,cpuacct:/job\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cpu_quota(root / ""), 0);
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(cpu_quota(root / ""), 2);
}

TEST(CpuQuota, IsNoneWhereFilesAreMissingOrStrange) {
  const testing_support::Scratch root;
  EXPECT_EQ(cpu_quota(root / ""), 0);
  root.write("proc/self/cgroup", "nonsense\n\n:\n0::/job\n");
  root.write("sys/fs/cgroup/job/cpu.max", "many\n");
  EXPECT_EQ(cpu_quota(root / ""), 0);
}

}  // namespace
}  // namespace steelyard::cli
