// SPDX-License-Identifier: BSD-3-Clause
#include "loops/description.h"

#include <gtest/gtest.h>

#include "loops/team.h"

namespace steelyard::loops {
namespace {

/// Executions by a team whose threads take turns.
void execute(Loop& loop, std::uint64_t count, int threads, int times) {
  Team team(threads);
  for (int i = 0; i < times; ++i) {
    for (int t = 0; t < threads; ++t) ASSERT_TRUE(team.member(t).begin(loop, count));
    for (int t = 0; t < threads; ++t) {
      for (Chunk chunk; team.member(t).next(chunk);) {
      }
      team.member(t).end();
    }
  }
}

/// As a file of --loops-learn says it: of another run, in which an execution took a minute.
Loop::Regime learnt(std::uint64_t count, int threads) {
  Loop once("once");
  execute(once, count, threads, 1);
  Loop::Regime regime;
  EXPECT_TRUE(once.latest(regime));
  regime.history = History(threads);
  regime.history.restore({}, 1000, 60e9, 0);
  regime.policy = Policy({}, Strategy::guided);
  return regime;
}

TEST(Description, WhatAnEarlierRunTookIsNotThisRunsTime) {
  Loop loop("loop");
  loop.restore(learnt(1'000'000, 7));  // not met in this run
  loop.restore(learnt(100, 2));        // met
  execute(loop, 100, 2, 3);
  const Description said = describe(loop);
  EXPECT_EQ(said.threads, 2);
  EXPECT_GT(said.mean_ns, 0);
  EXPECT_LT(said.mean_ns, 1e9);
}

TEST(Description, OfManyExecutionsTheRecentMeanCounts) {
  Loop loop("loop", {Strategy::steal, 0, 0});
  execute(loop, 100, 2, 3000);
  const Description said = describe(loop);
  EXPECT_GT(said.mean_ns, 0);
  Loop::Regime regime;
  ASSERT_TRUE(loop.latest(regime));
  ASSERT_GT(regime.history.executions_here(), History::kRing);
  EXPECT_DOUBLE_EQ(said.mean_ns, regime.history.mean_ns());
  EXPECT_EQ(said.strategy, "steal");
}

TEST(Description, OnlyIterationsThatHaveAnOwnerMove) {
  const auto moved = [](Strategy strategy) {
    Loop loop("loop", {strategy, 0, 0});
    execute(loop, 1000, 2, 1);
    return describe(loop).stolen;
  };
  EXPECT_GT(moved(Strategy::steal), 0);
  EXPECT_EQ(moved(Strategy::guided), 0);
  EXPECT_EQ(moved(Strategy::factoring), 0);
}

TEST(Description, OfALoopThatIsRepeatedOrWasNeverExecuted) {
  Loop loop("loop");
  EXPECT_EQ(describe(loop).strategy, "");
  loop.restore(learnt(100, 2));
  EXPECT_EQ(describe(loop).threads, 0) << "an earlier run has";
  ASSERT_TRUE(loop.replay({100, {{{0, 60}}, {{60, 100}}}}));
  execute(loop, 100, 2, 3);
  EXPECT_EQ(describe(loop).threads, 2);
  EXPECT_NE(describe(loop).strategy, "");
  EXPECT_EQ(describe(loop).mean_ns, 0) << "nothing was measured";
  EXPECT_EQ(describe(loop).reason, "repeats what was recorded (--loops-replay)");
  execute(loop, 90, 2, 1);
  EXPECT_EQ(describe(loop).reason, "repeats what was recorded (--loops-replay) where that fits");
  EXPECT_EQ(loop.repeats().executions, 4U);
  EXPECT_EQ(loop.repeats().repeated, 3U);
}

}  // namespace
}  // namespace steelyard::loops
