// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "loops/hidden_runtime.h"

namespace steelyard::loops {
namespace {

const void* here() { return reinterpret_cast<const void*>(&here); }

TEST(HiddenRuntime, IsFoundByWhatItReads) {
  EXPECT_FALSE(hidden_runtime::within(here())) << "this program has none";
  EXPECT_FALSE(hidden_runtime::within(nullptr));
  void* const c = dlsym(RTLD_DEFAULT, "printf");
  EXPECT_FALSE(hidden_runtime::within(c));
  int found = 0;
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"}) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    ++found;
    EXPECT_TRUE(hidden_runtime::within(dlsym(library, "omp_get_level"))) << name;
  }
  if (found == 0) GTEST_SKIP() << "there is no OpenMP runtime here";
}

TEST(HiddenRuntime, ThreadsOfProgramsWithoutOneAreLeftAlone) {
  EXPECT_FALSE(hidden_runtime::may_be_in_team(here()));
  std::thread([] { EXPECT_FALSE(hidden_runtime::may_be_in_team(here())); }).join();
}

TEST(HiddenRuntime, TheFirstThreadHasAllIterationsAndOthersAreInATeamThatNobodyKnows) {
  void* library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libomp.so.5", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "there is no OpenMP runtime here";
  const void* const caller = dlsym(library, "omp_get_level");  // as if that were linked into what calls
  EXPECT_FALSE(hidden_runtime::may_be_in_team(caller));
  std::thread([=] {
    EXPECT_TRUE(hidden_runtime::may_be_in_team(caller));
    EXPECT_FALSE(hidden_runtime::may_be_in_team(here()));
    EXPECT_TRUE(hidden_runtime::may_be_in_team(caller));
  }).join();
}

}  // namespace
}  // namespace steelyard::loops
