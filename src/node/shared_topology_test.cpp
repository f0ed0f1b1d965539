// SPDX-License-Identifier: BSD-3-Clause
#include "node/shared_topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <queue>

#include "node/test_support.h"

namespace steelyard::node {
namespace {

/// A process of a node whose processes run one after the other, node rank 0 first.
class OneOfTwo final : public Bootstrap {
 public:
  OneOfTwo(int rank, std::queue<std::string>& messages) : rank_(rank), messages_(messages) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  int node_rank() const override { return rank_; }
  int node_size() const override { return 2; }
  int node_index() const override { return 0; }
  int node_count() const override { return 1; }
  std::string library() const override { return "none"; }
  void broadcast_in_node(void* bytes, std::size_t size) override {
    if (rank_ == 0) {
      messages_.emplace(static_cast<const char*>(bytes), size);
      return;
    }
    ASSERT_EQ(messages_.front().size(), size);
    std::memcpy(bytes, messages_.front().data(), size);
    messages_.pop();
  }
  void barrier_in_node() override {}
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
  std::uint32_t common_bits(std::uint32_t mine) override { return mine; }
  void progress() override {}

 private:
  int rank_;
  std::queue<std::string>& messages_;
};

/// Two processes of a node in cgroups that allow these CPUs, on a node of 48 PUs for node rank 0.
class SharedTopologyTest : public testing::Test {
 protected:
  SharedTopology discover_at(int rank, const char* allowed, const char* machine) {
    root_.write("proc/self/cgroup", "0::/job\n");
    root_.write("sys/fs/cgroup/job/cpuset.cpus.effective", allowed);
    setenv("HWLOC_SYNTHETIC", machine, 1);
    OneOfTwo bootstrap(rank, messages_);
    SharedTopology found = discover_in_node(bootstrap, root_ / "");
    unsetenv("HWLOC_SYNTHETIC");
    return found;
  }

  Scratch root_;
  std::queue<std::string> messages_;
};

constexpr const char* k48 = "package:2 l3:2 core:12 pu:1";

TEST_F(SharedTopologyTest, IsDiscoveredOnceIfTheCgroupsAllowTheSameCpus) {
  const SharedTopology first = discover_at(0, "0-47", k48);
  EXPECT_TRUE(first.same);
  const SharedTopology second = discover_at(1, "0-47", "core:3 pu:1");
  EXPECT_TRUE(second.same);
  EXPECT_EQ(second.topology.pus, first.topology.pus);
  EXPECT_EQ(second.topology.pus.size(), 48U);
  EXPECT_EQ(second.topology.summary, "2 packages x 24 cores");
  EXPECT_TRUE(second.topology.emulated);
  EXPECT_TRUE(second.topology.has_l3);
}

TEST_F(SharedTopologyTest, IsTheProcesssOwnIfItsCgroupAllowsOtherCpus) {
  discover_at(0, "0-2", "core:3 pu:1");
  const SharedTopology second = discover_at(1, "0-47", k48);
  EXPECT_FALSE(second.same);
  EXPECT_EQ(second.topology.pus.size(), 48U);
}

TEST_F(SharedTopologyTest, IsComparedIfTheCgroupDoesNotTell) {
  discover_at(0, "", "core:3 pu:1");
  EXPECT_TRUE(discover_at(1, "", "core:3 pu:1").same);
  discover_at(0, "", "core:3 pu:1");
  EXPECT_FALSE(discover_at(1, "", "package:3 core:1 pu:1").same) << "as many PUs in other packages";
}

}  // namespace
}  // namespace steelyard::node
