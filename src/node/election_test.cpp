// SPDX-License-Identifier: BSD-3-Clause
#include "node/election.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

namespace steelyard::node {
namespace {

TEST(Election, ElectsOneUntilItLeaves) {
  const pid_t launcher = getpid();
  auto first = std::make_unique<Election>("a", launcher);
  Election second("a", launcher), of_another("a", launcher + 1), of_something_else("b", launcher);
  EXPECT_TRUE(first->elected());
  EXPECT_TRUE(first->elected()) << "it stays elected";
  EXPECT_FALSE(second.elected());
  EXPECT_TRUE(of_another.elected());
  EXPECT_TRUE(of_something_else.elected());
  first.reset();
  EXPECT_TRUE(second.elected());
}

TEST(Election, AProcessThatHasEndedIsNotElected) {
  const pid_t launcher = getpid();
  const pid_t child = fork();
  if (child == 0) {
    Election mine("a", launcher);
    _exit(mine.elected() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(Election("a", launcher).elected());
}

}  // namespace
}  // namespace steelyard::node
