// SPDX-License-Identifier: BSD-3-Clause
#include "progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <thread>

namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(Progress, ShortRunsSayNothing) {
  CaptureStderr();
  Progress progress("sim", "of it is done");
  for (int i = 0; i < 1000; ++i) progress.look(i / 1000.0);
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(Progress, SaysHowFarItIsAndHowLongItTakes) {
  CaptureStderr();
  Progress progress("sim", "of it is done", 0.6);
  progress.look(0.1);
  sleep_ms(650);
  for (int i = 0; i < 10; ++i) progress.look(0.0625);  // once
  int after = 0, left = 0, length = 0;
  const auto said = GetCapturedStderr();
  std::sscanf(said.c_str(), "sim: 6 %% of it is done after %d s, about %d s left\n%n", &after, &left, &length);
  EXPECT_EQ(length, static_cast<int>(said.size())) << said;
  EXPECT_GE(left, 10) << said;                          // of 0.65 s and more, fifteen times
  EXPECT_NEAR(left, 15 * after, 15 * 0.5 + 1) << said;  // which is rounded
}

TEST(Progress, NearTheEndLittleIsLeft) {
  CaptureStderr();
  Progress progress("sim", "of it is done", 0.6);
  sleep_ms(650);
  progress.look(0.94);
  EXPECT_THAT(GetCapturedStderr(), testing::HasSubstr("about 0 s left\n"));
}

TEST(Progress, GuessesNothingFromNothingAndNothingBeyondTheEnd) {
  CaptureStderr();
  Progress progress("sim", "of it is done", 0.01);
  sleep_ms(20);
  progress.look(0.001);
  sleep_ms(20);
  progress.look(1.5);
  EXPECT_THAT(GetCapturedStderr(),
              testing::MatchesRegex("sim: 0 % of it is done after . s\nsim: 100 % of it is done after . s\n"));
}

}  // namespace
