// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wrappers.h"

#include <gtest/gtest.h>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

using namespace testing_support;

/// A folder on PATH with programs that do nothing.
class Wrappers : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"env", "numactl", "nice", "time", "perf", "stat", "mpirun", "julia", "sh"}) {
      std::filesystem::permissions(scratch_.write(name, "#!/bin/sh\n"), std::filesystem::perms::owner_all);
    }
    ASSERT_NE(compile(scratch_, "libmpi.so.12", "int MPI_Init(void) { return 0; }\n",
                      "-shared -fPIC -Wl,-soname,libmpi.so.12"),
              "");
    app_ = compile(scratch_, "app", "int MPI_Init(void); int main(void) { return MPI_Init(); }\n",
                   scratch_ / "libmpi.so.12");
    ASSERT_NE(app_, "");
    site_.environment["PATH"] = scratch_ / "";
  }
  std::size_t behind(const std::vector<std::string>& words) const {
    return program_behind_wrappers(words, site_).place;
  }

  Scratch scratch_;
  Site site_;
  std::string app_;
};

TEST_F(Wrappers, AreFollowedToTheProgram) {
  EXPECT_EQ(behind({"env", "X=1", "app", "env"}), 2U);
  EXPECT_EQ(behind({"/usr/bin/env", "-u", "Y", app_}), 3U);
  EXPECT_EQ(behind({"env", "OMP_NUM_THREADS=4", "numactl", "-N", "0", "nice", "-n5", app_, "-x"}), 7U);
  EXPECT_EQ(behind({"time", "-f", "%e", "app"}), 3U);
  EXPECT_EQ(behind({"perf", "stat", "app"}), 2U) << "there is a program of that name";
  EXPECT_EQ(behind({"env", "X=4", "numactl", "-l", "julia", "x.jl"}), 4U);
}

TEST_F(Wrappers, AreShellsWithCommands) {
  const auto starts = [&](const std::vector<std::string>& command) {
    int error = 0;
    const auto started = decide_on_command(command, {}, site_, error);
    EXPECT_EQ(error, 0);
    return started.shown;
  };
  EXPECT_EQ(starts({"sh", "-c", "app"}), "app");
  EXPECT_EQ(starts({"sh", "-ec", "cd /tmp&&export X=1;exec '" + app_ + "' -x >out"}), app_);
  EXPECT_EQ(starts({"env", "X=1", "sh", "-c", "nice app"}), "app");
  EXPECT_EQ(starts({"sh", "-c", "env -i app"}), "sh") << "LD_PRELOAD does not reach it";
  EXPECT_EQ(starts({"sh", "-c", "LD_PRELOAD= app"}), "sh");
  EXPECT_EQ(starts({"sh", "-c", "mpirun -n 2 app"}), "sh") << "not a rank";
  EXPECT_EQ(starts({"sh", "-c", "X=app echo nothing"}), "sh");
  EXPECT_EQ(starts({"app", "-c", "app x"}), "app");
}

TEST_F(Wrappers, DoNotHideJulia) {
  int error = 0;
  const auto started = decide_on_command({"numactl", "-l", "julia", "x.jl"}, {}, site_, error);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(started.shown, "julia");
  EXPECT_TRUE(is_julia(started.binary));
  EXPECT_FALSE(started.decision.awaits_mpi) << "of an MPI that nothing names";
}

TEST_F(Wrappers, ThatStartNothingKnownAreProgramsThemselves) {
  EXPECT_EQ(behind({"app", "env", "app"}), 0U) << "a program with a wrapper among its arguments";
  EXPECT_EQ(behind({"env"}), 0U);
  EXPECT_EQ(behind({"env", "X=1", "./absent"}), 0U);
  EXPECT_EQ(behind({"env", "-i", "app"}), 0U) << "LD_PRELOAD does not reach it";
  EXPECT_EQ(behind({"env", "-u", "LD_PRELOAD", "app"}), 0U);
  EXPECT_EQ(behind({"sudo", "app"}), 0U);
  EXPECT_EQ(behind({"time", "mpirun", "-n", "2", "app"}), 0U) << "not a rank";
  EXPECT_EQ(behind({"time", "stat", "app.c"}), 0U);
}

}  // namespace
}  // namespace steelyard::cli
