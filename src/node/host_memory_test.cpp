// SPDX-License-Identifier: BSD-3-Clause
#include "node/host_memory.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <vector>

static int g_lookups = 0;

/// In place of the C library's: counts the lookups of libraries that may be there already.
extern "C" void* dlopen(const char* file, int mode) noexcept {
  static const auto next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  if ((mode & RTLD_NOLOAD) != 0) ++g_lookups;
  return next(file, mode);
}

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

TEST(HostMemory, DriversAreLookedForOnlyAfterALibraryWasLoaded) {
  constexpr std::size_t kMore = 32 * kBytes;  // than is remembered
  void* const block = mmap(nullptr, kMore, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  const auto ask = [block] {
    for (std::size_t at = 0; at < kMore; at += kBytes / 8) EXPECT_TRUE(is_host_memory(static_cast<char*>(block) + at));
  };
  ask();
  const int before = g_lookups;
  EXPECT_GT(before, 0);
  ask();
  EXPECT_EQ(g_lookups, before);
  void* const library = dlopen("libanl.so.1", RTLD_NOW);  // of the C library, and in use by nothing else here
  if (library != nullptr) {
    ask();
    EXPECT_GT(g_lookups, before);
    dlclose(library);
  }
  munmap(block, kMore);
  if (library == nullptr) GTEST_SKIP() << "no library could be loaded: " << dlerror();
}

}  // namespace
}  // namespace steelyard::node
