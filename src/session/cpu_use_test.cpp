// SPDX-License-Identifier: BSD-3-Clause
#include "session/cpu_use.h"

#include <gtest/gtest.h>

namespace steelyard::session {
namespace {

TEST(CpuUse, HasTheLongestRunDelayOfAThread) {
  const CpuUse start{1, {{10, 500}, {11, 70}, {12, 900}}};
  const CpuUse end{3, {{10, 510}, {11, 100}, {13, 25}}};
  EXPECT_EQ(end.run_delay_since(start), 30) << "thread 12 has ended, thread 13 is new";
  EXPECT_EQ(CpuUse().run_delay_since(start), -1) << "not known";
  EXPECT_EQ(start.run_delay_since(start), 0);
}

TEST(CpuUse, LeavesOutAPause) {
  CpuUse start{1, {{10, 500}, {11, 70}}};
  start.leave_out({2, {{10, 600}, {11, 80}}}, {5, {{10, 900}, {11, 85}, {14, 7}}});
  EXPECT_EQ(start.seconds, 4);
  CpuUse throttled{1, {}, 0.5};
  throttled.leave_out({2, {}, 1}, {3, {}, 4});
  EXPECT_EQ(throttled.throttled, 3.5);
  EXPECT_EQ((CpuUse{6, {{10, 910}, {11, 90}, {14, 7}}}.run_delay_since(start)), 110);
}

TEST(CpuUse, OfThisProcessIsKnown) {
  const CpuUse use = cpu_use();
  EXPECT_GT(use.seconds, 0);
  EXPECT_TRUE(use.run_delay.empty() || use.run_delay_since(use) == 0);
}

}  // namespace
}  // namespace steelyard::session
