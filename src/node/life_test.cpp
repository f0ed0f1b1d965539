// SPDX-License-Identifier: BSD-3-Clause
#include "node/life.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
using namespace steelyard::node;

TEST(Life, TellsTheLivingFromTheDead) {
  Life life = own_life();
  EXPECT_TRUE(is_alive(life, life.pid_namespace));
  EXPECT_TRUE(is_alive({life.pid, 0, life.pid_namespace}, life.pid_namespace)) << "unknown";
  life.started += 1;
  EXPECT_FALSE(is_alive(life, life.pid_namespace)) << "another process with the same PID";
  EXPECT_TRUE(is_alive(life, life.pid_namespace + 1)) << "cannot be told";
}

TEST(Life, AProcessThatHasEndedIsDeadBeforeItsParentWaits) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Life life = own_life();
    _exit(write(ends[1], &life, sizeof(life)) == static_cast<ssize_t>(sizeof(life)) ? 0 : 1);
  }
  Life life = {};
  ASSERT_EQ(read(ends[0], &life, sizeof(life)), static_cast<ssize_t>(sizeof(life)));
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(life.pid, child);
  EXPECT_FALSE(is_alive(life, life.pid_namespace)) << "a zombie";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_alive(life, life.pid_namespace));
  close(ends[0]);
  close(ends[1]);
}

TEST(Life, WithoutAFreeDescriptorTheLivingAreNotDead) {
  Life ended = own_life();
  ended.pid = fork();
  if (ended.pid == 0) _exit(0);
  waitpid(ended.pid, nullptr, 0);
  const Life life = own_life();
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool opens = open("/proc/self/stat", O_RDONLY | O_CLOEXEC) >= 0;
  const bool alive = is_alive(life, life.pid_namespace), still_alive = is_alive(ended, life.pid_namespace);
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_FALSE(opens);
  EXPECT_TRUE(alive);
  EXPECT_FALSE(still_alive);
}

}  // namespace
