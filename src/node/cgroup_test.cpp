// SPDX-License-Identifier: BSD-3-Clause
#include "node/cgroup.h"

#include <gtest/gtest.h>

#include "node/test_support.h"

namespace steelyard::node {
namespace {

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

TEST(ThrottledTime, IsThatOfTheGroupWithAQuota) {
  const Scratch root;
  root.write("proc/self/cgroup", "0::/user/job\n");
  root.write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/user/job/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 7000000\n");
  EXPECT_EQ(throttled_time(root / ""), 0) << "no quota";
  root.write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  EXPECT_EQ(throttled_time(root / ""), 0) << "the kernel does not tell";
  root.write("sys/fs/cgroup/user/cpu.stat", "usage_usec 9\nthrottled_usec 2500000\n");
  EXPECT_EQ(throttled_time(root / ""), 2.5);
}

TEST(ThrottledTime, ReadsVersionOne) {
  const Scratch root;
  root.write("proc/self/cgroup", "4:cpu,cpuacct:/job\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 5\nnr_throttled 2\nthrottled_time 1500000000\n");
  EXPECT_EQ(throttled_time(root / ""), 1.5);
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

TEST(CpuQuota, IsLimitedByGroupsAboveInVersionOneToo) {
  const Scratch root;
  root.write("proc/self/cgroup", "4:cpu,cpuacct:/batch/job\n");
  root.write("sys/fs/cgroup/cpu/batch/job/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/batch/job/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/batch/cpu.cfs_period_us", "50000\n");
  root.write("sys/fs/cgroup/cpu/batch/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(cpu_quota(root / ""), 3);
}

TEST(CpuQuota, IsReadWhereControllersAreMounted) {
  const Scratch root;
  root.write("proc/self/mountinfo",
             "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
             "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct\n"
             "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
             "41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw,relatime - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "3:cpuset:/job\n1:cpu,cpuacct:/job\n0::/two\n");
  EXPECT_EQ(cpu_quota(root / ""), 0);
  root.write("sys/fs/cgroup/uni fied/two/cpu.max", "300000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 3) << "both versions at once";
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(cpu_quota(root / ""), 2.5);
}

TEST(CpuQuota, IsThatOfAContainerWhoseGroupIsMounted) {
  const Scratch root;
  root.write("proc/self/mountinfo",
             "32 31 0:29 /docker/4f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
             "41 31 0:38 /docker/4f /sys/fs/cgroup/unified ro - cgroup2 cgroup rw\n");
  root.write("proc/self/cgroup", "1:cpu:/docker/4f/inner\n0::/docker/4f\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(cpu_quota(root / ""), 4) << "of the container";
  root.write("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(cpu_quota(root / ""), 2) << "of the group inside of it";
  root.write("sys/fs/cgroup/unified/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 1);
}

TEST(CpuQuota, InACgroupNamespaceIsThatOfItsRootAndBelow) {
  const Scratch root;
  root.write("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  root.write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(cpu_quota(root / ""), 0);
  root.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 1.5);
  // The tree was mounted before the namespace was made: cgroup_namespaces(7).
  root.write("proc/self/mountinfo", "41 31 0:38 /.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  EXPECT_EQ(cpu_quota(root / ""), 1.5);
  // This process is outside of the namespace's root, and what it is called there is no group of this tree.
  root.write("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  root.write("proc/self/cgroup", "0::/../other\n");
  root.write("sys/fs/cgroup/other/cpu.max", "50000 100000\n");
  root.write("sys/fs/other/cpu.max", "50000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 1.5);
}

TEST(CpuQuota, ReadsTheTreesOfSystemdAndSlurm) {
  const Scratch root;
  root.write("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  const std::string slice = R"(user.slice/user-1000.slice/user@1000.service/app.slice/app-my\x2dapp.slice/run-1.scope)";
  root.write("proc/self/cgroup", "0::/" + slice + "\n");
  root.write("sys/fs/cgroup/" + slice + "/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/user.slice/user-1000.slice/cpu.max", "200000 100000\n");  // CPUQuota=200%
  EXPECT_EQ(cpu_quota(root / ""), 2);
  const std::string step = "system.slice/slurmstepd.scope/job_7/step_0";
  root.write("proc/self/cgroup", "0::/" + step + "/user/task_3 (deleted)\n");
  root.write("sys/fs/cgroup/" + step + "/user/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/cpu.max", "600000 100000\n");
  EXPECT_EQ(cpu_quota(root / ""), 6) << "of the job, although the task's group is gone";
}

TEST(AllowedCpus, AreThoseOfTheLowestGroupThatTells) {
  const Scratch root;
  root.write("proc/self/cgroup", "0::/job/task_3\n");
  EXPECT_EQ(allowed_cpus(root / ""), "");
  root.write("sys/fs/cgroup/job/cpuset.cpus.effective", "0-7,16\n");
  EXPECT_EQ(allowed_cpus(root / ""), "0-7,16") << "task_3 has no controller of its own";
  root.write("sys/fs/cgroup/job/task_3/cpuset.cpus.effective", "4-7\n");
  EXPECT_EQ(allowed_cpus(root / ""), "4-7");
}

TEST(AllowedCpus, AreReadFromVersionOne) {
  const Scratch root;
  root.write("proc/self/mountinfo",
             "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
             "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "3:cpuset:/job\n1:cpu,cpuacct:/other\n0::/\n");
  root.write("sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", "2-3\n");
  EXPECT_EQ(allowed_cpus(root / ""), "2-3");
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
