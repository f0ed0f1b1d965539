// SPDX-License-Identifier: BSD-3-Clause
#include "partition/readable_name.h"

#include <gtest/gtest.h>

namespace steelyard::partition {
namespace {

TEST(ReadableName, PartsOfAFunctionHaveItsName) {
  EXPECT_EQ(readable_name("smooth"), "smooth");
  EXPECT_EQ(readable_name("smooth._omp_fn.0"), "smooth");
  EXPECT_EQ(readable_name("smooth.constprop.0.cold"), "smooth");
  EXPECT_EQ(readable_name("_ZL6smoothRdi._omp_fn.3"), "smooth");
  EXPECT_EQ(readable_name(".omp_outlined."), ".omp_outlined");
}

TEST(ReadableName, FortranNamesStay) {
  EXPECT_EQ(readable_name("smooth_._omp_fn.12"), "smooth_");
  EXPECT_EQ(readable_name("__solver_MOD_smooth._omp_fn.0"), "__solver_MOD_smooth");
  EXPECT_EQ(readable_name("MAIN__._omp_fn.0"), "MAIN__");
}

TEST(ReadableName, CppNamesAreShort) {
  EXPECT_EQ(readable_name("_ZN4GridIdE5applyIFdiEEEvOT_"), "Grid<...>::apply<...>");
  EXPECT_EQ(readable_name("_ZNK6KernelclEi"), "Kernel::operator()");
  EXPECT_EQ(readable_name("_ZN4GridltERKS_"), "Grid::operator<");
  EXPECT_EQ(readable_name("_ZN4GridcvdEv"), "Grid::operator double");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_13runEv"), "(anonymous namespace)::run");
  EXPECT_EQ(readable_name("_ZZ4mainENKUliE_clEi"), "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(readable_name("_ZZNK4Grid5applyEiENKUliE_clEi"), "Grid::apply::{lambda(int)#1}::operator()");
  EXPECT_EQ(readable_name("_Z1fIiENSt9enable_ifIXgtstT_Li2EEiE4typeES1_"), "f<...>")
      << "an expression with a > of its own";
}

TEST(ReadableName, AnythingElseIsLeftAsItIs) {
  for (const char* const name : {"", "_Z", "a(b", "<", ")", "_ZN4Grid", "f<g<h>"}) EXPECT_EQ(readable_name(name), name);
}

}  // namespace
}  // namespace steelyard::partition
