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
    std::string path;
    for (const char* name : {"env", "numactl", "nice", "time", "app"}) {
      path = scratch_.write(name, "#!/bin/sh\n");
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    app_ = path;
    site_.environment["PATH"] = scratch_ / "";
  }
  std::size_t behind(const std::vector<std::string>& words) const { return program_behind_wrappers(words, site_); }

  Scratch scratch_;
  Site site_;
  std::string app_;
};

TEST_F(Wrappers, AreFollowedToTheProgram) {
  EXPECT_EQ(behind({"env", "X=1", "app", "env"}), 2U);
  EXPECT_EQ(behind({"/usr/bin/env", "-u", "Y", app_}), 3U);
  EXPECT_EQ(behind({"env", "OMP_NUM_THREADS=4", "numactl", "-N", "0", "nice", "-n5", app_, "-x"}), 7U);
  EXPECT_EQ(behind({"time", "-f", "%e", "app"}), 3U);
}

TEST_F(Wrappers, ThatStartNothingKnownAreProgramsThemselves) {
  EXPECT_EQ(behind({"app", "env", "app"}), 0U) << "a program with a wrapper among its arguments";
  EXPECT_EQ(behind({"env"}), 0U);
  EXPECT_EQ(behind({"env", "X=1", "./absent"}), 0U);
  EXPECT_EQ(behind({"env", "-i", "app"}), 0U) << "LD_PRELOAD does not reach it";
  EXPECT_EQ(behind({"env", "-u", "LD_PRELOAD", "app"}), 0U);
  EXPECT_EQ(behind({"sudo", "app"}), 0U);
}

}  // namespace
}  // namespace steelyard::cli
