// SPDX-License-Identifier: BSD-3-Clause
#include "cli/clean.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

TEST(Clean, RemovesWhatTheDeadHaveLeft) {
  const testing_support::Scratch scratch;
  // No process has this number: Linux ends at 2^22.
  const auto dead = scratch.write(fmt::format("steelyard-{}-99999999-0badcafe", getuid()), "");
  const auto alive = scratch.write(fmt::format("steelyard-{}-{}-0badcafe", getuid(), getpid()), "");
  const auto others = scratch.write(fmt::format("steelyard-{}-99999999-0badcafe", getuid() + 1), "");
  const auto strange = scratch.write("steelyard-run.json", "");
  EXPECT_EQ(clean(scratch / ""), 0);
  EXPECT_FALSE(std::filesystem::exists(dead));
  for (const auto& kept : {alive, others, strange}) EXPECT_TRUE(std::filesystem::exists(kept)) << kept;
}

TEST(Clean, RemovesRegistrationsOfOpenMpThatTheDeadHaveLeft) {
  const testing_support::Scratch scratch;
  const auto dead = scratch.write(fmt::format("__KMP_REGISTERED_LIB_99999999_{}", getuid()), "");
  const auto alive = scratch.write(fmt::format("__KMP_REGISTERED_LIB_{}_{}", getpid(), getuid()), "");
  const auto others = scratch.write(fmt::format("__KMP_REGISTERED_LIB_99999999_{}", getuid() + 1), "");
  const auto strange = scratch.write(fmt::format("__KMP_REGISTERED_LIB_99999999_{}.old", getuid()), "");
  EXPECT_EQ(clean(scratch / ""), 0);
  EXPECT_FALSE(std::filesystem::exists(dead));
  for (const auto& kept : {alive, others, strange}) EXPECT_TRUE(std::filesystem::exists(kept)) << kept;
}

TEST(Clean, KeepsWhatAProcessInAContainerUses) {
  pid_t unused = 1;
  while (kill(unused, 0) == 0 || errno != ESRCH) ++unused;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t container = fork();
  if (container == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(1);
    if (const pid_t first = fork(); first != 0) {
      waitpid(first, nullptr, 0);
      _exit(0);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Processes here are numbered from 1; one of them gets the number that no process has outside.
    for (pid_t number = getpid(); number < unused;) {
      number = fork();
      if (number == 0) number = getpid() == unused ? unused : (_exit(0), 0);
    }
    if (getpid() == unused && write(ready[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  close(ready[1]);
  char answer = 0;
  if (read(ready[0], &answer, 1) == 1) {
    const testing_support::Scratch scratch;
    const auto used = scratch.write(fmt::format("__KMP_REGISTERED_LIB_{}_{}", unused, getuid()), "");
    EXPECT_EQ(clean(scratch / ""), 0);
    EXPECT_TRUE(std::filesystem::exists(used)) << used;
  }
  close(ready[0]);
  kill(container, SIGKILL);
  waitpid(container, nullptr, 0);
  if (answer == 0) GTEST_SKIP() << "this user may make no process namespace";
}

TEST(Clean, SaysWhereItCannotLook) { EXPECT_EQ(clean("/no/such/place"), 1); }

}  // namespace
}  // namespace steelyard::cli
