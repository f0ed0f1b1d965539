// SPDX-License-Identifier: BSD-3-Clause
#include "loops/setup.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace steelyard::loops {
namespace {

namespace fs = std::filesystem;

/// In a process of its own, which ends by exit(): its status.
template <class Run>
int status_of(const Run& run) {
  const pid_t child = fork();
  if (child == 0) {
    run();
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Learn, IsSavedOnceWhereTheProcessWasAndWhateverItsLoopsAreCalled) {
  const fs::path folder = fs::path(testing::TempDir()) / ("learn." + std::to_string(getpid()));
  fs::create_directories(folder / "elsewhere");
  const int status = status_of([&] {
    fs::current_path(folder);
    setenv("STEELYARD_LOOPS_LEARN", "loops.json", 1);
    ready_registry().named(
        "pr\xfc"
        "fung");
    fs::current_path(folder / "elsewhere");
    // Forked in mid-run, and gone by exit().
    if (status_of([] { ready_registry().named("the child's"); }) != 0) std::abort();
  });
  EXPECT_EQ(status, 0);
  std::ostringstream text;
  text << std::ifstream(folder / "loops.json").rdbuf();
  EXPECT_NE(text.str().find("pr\xc3\xbc"
                            "fung"),
            std::string::npos)
      << text.str();
  EXPECT_EQ(text.str().find("the child's"), std::string::npos) << text.str();
  EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace steelyard::loops
