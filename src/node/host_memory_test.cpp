// SPDX-License-Identifier: BSD-3-Clause
#include "node/host_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace steelyard::node {
namespace {

constexpr std::size_t kBytes = std::size_t{8} << 20;

TEST(HostMemory, IsWhatCanBeRead) {
  const int on_stack = 1;
  static const int constant = 2;
  const std::vector<int> on_heap(1000);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(is_host_memory(&on_stack));
    EXPECT_TRUE(is_host_memory(&constant));
    EXPECT_TRUE(is_host_memory(on_heap.data()));
  }
}

// As an accelerator's: addresses that no other mapping gets, and that the processor cannot read.
TEST(HostMemory, IsNotWhatOnlyHasAddresses) {
  void* const there = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(there, MAP_FAILED);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(is_host_memory(static_cast<char*>(there) + kBytes / 2));
  ASSERT_EQ(mprotect(there, kBytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_TRUE(is_host_memory(static_cast<char*>(there) + kBytes / 2)) << "a refusal is not remembered";
  munmap(there, kBytes);
  for (const std::uintptr_t low : {0, 1, 7, 64}) EXPECT_FALSE(is_host_memory(reinterpret_cast<void*>(low))) << low;
}

}  // namespace
}  // namespace steelyard::node
