// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace steelyard::base {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

/// The rank belongs to the process: each test leaves it unknown.
class Log : public testing::Test {
 protected:
  void TearDown() override { set_log_rank(-1); }
};

TEST_F(Log, NamesTheRankInWarningsAlone) {
  CaptureStderr();
  warn("early");
  set_log_rank(3);
  warn("late");
  say("for all");
  EXPECT_EQ(GetCapturedStderr(), "steelyard: early\nsteelyard[3]: late\nsteelyard: for all\n");
}

TEST_F(Log, WritesNoControlCharactersButLineEnds) {
  CaptureStderr();
  say("cannot run \033[2J./app: no\nsuch file");
  EXPECT_EQ(GetCapturedStderr(), "steelyard: cannot run ?[2J./app: no\nsuch file\n");
}

TEST_F(Log, SpeaksInHandlersToo) {
  CaptureStderr();
  say_in_handler({"\033 ", "starts"});
  EXPECT_EQ(GetCapturedStderr(), "steelyard: ? starts\n");
  CaptureStderr();
  say_in_handler({"long ", std::string(100000, 'x'), "y"});
  const auto line = GetCapturedStderr();
  EXPECT_TRUE(line.starts_with("steelyard: long xxx") && line.ends_with("x\n") && line.size() < 10000) << line.size();
}

TEST_F(Log, EndsNoProgramWhoseStandardErrorHasNoReader) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
  errno = EAGAIN;
  say("the header line");
  say_in_handler({"in a handler"});
  EXPECT_EQ(errno, EAGAIN);
  dup2(before, STDERR_FILENO);
  close(before);
  sigset_t set;
  ASSERT_EQ(sigpending(&set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
}

TEST_F(Log, LeavesTheProgramItsOwnPendingSignal) {
  sigset_t pipe_signal;
  sigset_t mask_before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &pipe_signal, &mask_before), 0);
  raise(SIGPIPE);
  CaptureStderr();
  say("a line");
  EXPECT_EQ(GetCapturedStderr(), "steelyard: a line\n");
  constexpr timespec kNoWait{};
  EXPECT_EQ(sigtimedwait(&pipe_signal, nullptr, &kNoWait), SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &mask_before, nullptr), 0);
}

TEST_F(Log, CapsRepeatsOfOneLineAndOfNoOther) {
  CaptureStderr();
  for (int i = 0; i < 100; ++i) warn("again and again");
  warn("another");
  const auto text = GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
  EXPECT_THAT(text, testing::HasSubstr("again and again (will not be repeated any more)\nsteelyard: another\n"));
}

TEST_F(Log, SaysOnceWhatIsToBeSaidOnce) {
  CaptureStderr();
  for (int i = 0; i < 3; ++i) warn_once("once");
  EXPECT_EQ(GetCapturedStderr(), "steelyard: once\n");
}

TEST_F(Log, WarnsOnceFromAPlaceWithoutMemory) {
  std::atomic_flag one, other;
  set_log_rank(3);
  CaptureStderr();
  warn_once(one, {"a", " b\a"});
  warn_once(one, {"c"});
  warn_once(other, {"d"});
  EXPECT_EQ(GetCapturedStderr(), "steelyard[3]: a b?\nsteelyard[3]: d\n");
}

TEST_F(Log, KeepsLinesOfManyThreadsWhole) {
  CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) warn(std::string(200, static_cast<char>('a' + t)) + std::to_string(i));
    });
  }
  for (auto& thread : threads) thread.join();
  std::istringstream lines(GetCapturedStderr());
  int seen = 0;
  for (std::string line; std::getline(lines, line); ++seen) {
    EXPECT_THAT(line, testing::StartsWith("steelyard: "));
    EXPECT_LE(line.size(), std::string("steelyard: ").size() + 202);
  }
  EXPECT_EQ(seen, 8 * 50);
}

}  // namespace
}  // namespace steelyard::base
