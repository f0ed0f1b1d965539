// SPDX-License-Identifier: BSD-3-Clause
#include "base/launcher_program.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

TEST(IsLauncherProgram, GoesByTheName) {
  EXPECT_TRUE(is_launcher_program("mpirun"));
  EXPECT_TRUE(is_launcher_program("/usr/bin/mpirun.mpich"));
  EXPECT_TRUE(is_launcher_program("srun"));
  EXPECT_FALSE(is_launcher_program("./mpirunner"));
  EXPECT_FALSE(is_launcher_program("./app"));
  EXPECT_FALSE(is_launcher_program(""));
}

}  // namespace
}  // namespace steelyard::base
