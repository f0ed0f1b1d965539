// SPDX-License-Identifier: BSD-3-Clause
#include "decide/contest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "decide/streams.h"

namespace steelyard::decide {
namespace {

/// Executes a contest of candidates with these ratios in a stream; the executions of each.
std::vector<int> execute(Contest& contest, Stream& stream, const std::vector<double>& ratios, int executions) {
  std::vector<int> count(ratios.size());
  for (int i = 0; i < executions; ++i) {
    const int candidate = contest.next();
    ++count[static_cast<std::size_t>(candidate)];
    contest.measured(stream.next() * ratios[static_cast<std::size_t>(candidate)]);
  }
  return count;
}

TEST(Contest, OfOneIsSettled) {
  Contest contest(1, {});
  EXPECT_TRUE(contest.settled());
  for (int i = 0; i < 100; ++i) contest.measured(1);
  EXPECT_TRUE(contest.settled());
  EXPECT_EQ(contest.leader(), 0);
}

TEST(Contest, ExecutesEachOnceThenTheFastestOfClearlyDifferentOnes) {
  Contest contest(5, {});
  Stream stream(Noise::steady, 1);
  const std::vector<int> count = execute(contest, stream, {16, 8, 1, 8, 16}, 100);
  EXPECT_EQ(contest.leader(), 2);
  EXPECT_TRUE(contest.settled());
  EXPECT_EQ(count, (std::vector<int>{2, 1, 95, 1, 1}));
}

TEST(Contest, TwoTrialsDecideAboutAClearlySlowerRival) {
  for (const Noise noise : {Noise::steady, Noise::heavy_tailed}) {
    for (const double rival : {1.25, 1.5, 2.0}) {
      Contest contest(2, {});
      Stream stream(noise, 5);
      EXPECT_EQ(execute(contest, stream, {1, rival}, 60)[1], 5) << rival << ": 1 of the survey, 4 of the trials";
      EXPECT_TRUE(contest.settled());
    }
  }
}

TEST(Contest, TheFirstExecutionAfterAChangeDoesNotCount) {
  Contest contest(2, {});
  int last = -1;
  for (int i = 0; i < 400; ++i) {
    const int candidate = contest.next();
    contest.measured((candidate == 1 ? 0.95 : 1) * (candidate != last ? 1.5 : 1));
    last = candidate;
  }
  EXPECT_EQ(contest.leader(), 1);
  EXPECT_NEAR(contest.gain_over(0).value, 0.05, 0.001);
}

/// Executions until a contest with a rival of this ratio is settled; at most 5,000.
int executions_to_settle(Settings settings, double rival) {
  Contest contest(2, settings);
  Stream stream(Noise::steady, 3);
  int executions = 10;
  execute(contest, stream, {1, rival}, executions);
  while (!contest.settled() && executions < 5000) {
    execute(contest, stream, {1, rival}, 1);
    ++executions;
  }
  return executions;
}

TEST(Contest, AHigherConfidenceNeedsMoreExecutions) {
  EXPECT_LT(executions_to_settle({.confidence = 0.5}, 0.97), executions_to_settle({.confidence = 0.95}, 0.97));
  EXPECT_LT(executions_to_settle({.confidence = 0.95}, 0.97), executions_to_settle({.confidence = 0.9999}, 0.97));
}

TEST(Contest, DoesNotSearchForGainsBelowTheExplorationBudget) {
  EXPECT_LT(executions_to_settle({.exploration = 0.2}, 1), 100);
  EXPECT_GT(executions_to_settle({.exploration = 0.002}, 1), 1000);
}

class OfNoise : public testing::TestWithParam<Noise> {};

TEST_P(OfNoise, FewWrongLeadersAmongEqualOnes) {
  int changed = 0;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    Stream stream(GetParam(), run);
    Contest contest(2, {});
    execute(contest, stream, {1, 1}, 10);
    const int first = contest.leader();
    execute(contest, stream, {1, 1}, 190);
    changed += contest.leader() != first;
  }
  RecordProperty("wrong", changed);
  std::printf("  %d of %d wrong\n", changed, kRuns);
  EXPECT_LE(changed, kRuns * 0.05);
}

/// After which of so many executions the second of two candidates leads, and stays so.
int executions_until_the_second_leads(Contest& contest, Stream& stream, double first, double second, int executions) {
  int last = 0;
  for (int i = 1; i <= executions; ++i) {
    contest.measured(stream.next() * (contest.next() == 0 ? first : second));
    if (contest.leader() == 0) last = i;
  }
  return last;
}

TEST_P(OfNoise, FindsTenPerCent) {
  std::vector<int> delays;
  for (int run = 0; run < 1000; ++run) {
    Stream stream(GetParam(), run);
    Contest contest(2, {});
    delays.push_back(executions_until_the_second_leads(contest, stream, 1, 0.9, 400));
  }
  std::ranges::sort(delays);
  std::printf("  the better leads after %d executions (median), %d (95 %%)\n", delays[500], delays[950]);
  EXPECT_LT(delays[950], 400);
}

TEST_P(OfNoise, StaysWithinItsBudget) {
  double worst = 0, mean = 0;
  constexpr int kExecutions = 2000;
  for (int run = 0; run < 200; ++run) {
    Stream stream(GetParam(), run);
    Contest contest(4, {});
    double lost = 0;
    for (int i = 0; i < kExecutions; ++i) {
      const int candidate = contest.next();
      const double ratio[] = {1, 1.05, 1.5, 4};
      const double duration = stream.next();
      contest.measured(duration * ratio[candidate]);
      lost += ratio[candidate] - 1;
    }
    worst = std::max(worst, lost);
    mean += lost / 200;
  }
  const double survey = 3.55;
  const double budget = 0.01 * kExecutions + Contest::kLoan + survey;
  std::printf("  lost executions: %.1f mean, %.1f at most, of %d; budget %.1f\n", mean, worst, kExecutions, budget);
  EXPECT_LT(mean, budget);
}

TEST_P(OfNoise, FindsAChange) {
  std::vector<int> delays;
  for (int run = 0; run < 200; ++run) {
    Stream stream(GetParam(), run);
    Contest contest(2, {});
    execute(contest, stream, {1, 1.2}, 300);
    delays.push_back(executions_until_the_second_leads(contest, stream, 1.3, 1.1, 4000));
  }
  std::ranges::sort(delays);
  std::printf("  found after %d executions (median), %d (90 %%)\n", delays[100], delays[180]);
  EXPECT_LT(delays[180], 4000);
}

INSTANTIATE_TEST_SUITE_P(Streams, OfNoise, testing::ValuesIn(kNoises),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(Contest, IgnoresWhatIsNoDuration) {
  Contest contest(2, {}), undisturbed(2, {});
  Stream stream(Noise::steady, 7);
  for (int i = 0; i < 200; ++i) {
    for (const double none : {0.0, -1.0, std::nan(""), HUGE_VAL}) EXPECT_FALSE(contest.measured(none));
    const double duration = stream.next() * (contest.next() == 1 ? 0.9 : 1);
    contest.measured(duration);
    undisturbed.measured(duration);
    ASSERT_EQ(contest.next(), undisturbed.next());
  }
  EXPECT_EQ(contest.leader(), 1);
}

TEST(Contest, IsTheSameEverywhere) {
  Stream stream(Noise::heavy_tailed, 5);
  Contest a(5, {}), b(5, {});
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(a.next(), b.next());
    const double duration = stream.next();
    ASSERT_EQ(a.measured(duration), b.measured(duration));
  }
}

TEST(Contest, ReopensLessAndLessOftenWhereNothingIsGained) {
  Contest contest(2, {});
  int reopened = 0, soon = 0;
  for (int block = 0; block < 200; ++block) {
    Stream stream(Noise::steady, block);
    for (int i = 0; i < 50; ++i)
      reopened += contest.measured(stream.next() * (block % 2 ? 2 : 1) * (contest.next() == 1 ? 1.2 : 1));
    if (block == 20) soon = reopened;
  }
  EXPECT_GT(soon, 0);
  EXPECT_LT(reopened, 12);
  EXPECT_EQ(contest.leader(), 0);
}

TEST(Contest, ARestartForgetsAChangeOfTheFormerCandidates) {
  Contest contest(2, {});
  Stream stream(Noise::steady, 4);
  const auto reopened = [&](double duration, int executions) {
    for (int i = 0; i < executions; ++i) {
      if (contest.measured(stream.next() * duration * (contest.next() == 1 ? 1.2 : 1))) return true;
    }
    return false;
  };
  for (const double duration : {1, 2, 1}) {
    ASSERT_FALSE(reopened(duration, 100));
    ASSERT_TRUE(reopened(3 - duration, 100));
  }
  // A change during the pause, which would reopen the contest at its end.
  ASSERT_FALSE(reopened(2, 50));
  ASSERT_FALSE(reopened(4, 50));
  contest.restart(2, 0);
  EXPECT_FALSE(reopened(4, 1000));
}

TEST(Contest, AGainThatARestartFindsResetsThePause) {
  for (const double other : {0.8, 1.2}) {
    Contest contest(2, {});
    Stream stream(Noise::steady, 5);
    int reopened = 0;
    for (int i = 0; i < 20000; ++i) {
      const double duration = i / 100 % 2 ? 2 : 1;
      if (!contest.measured(stream.next() * duration * (contest.next() == 1 ? other : 1))) continue;
      ++reopened;
      contest.restart(2, 0);
    }
    EXPECT_EQ(reopened > 100, other < 1) << reopened;
    EXPECT_TRUE(reopened > 100 || reopened < 12) << reopened;
  }
}

TEST(Contest, AHiccupInATrialDoesNotUseUpTheBudget) {
  for (const int at : {0, 1, 2, 3}) {  // of a trial's executions
    Contest contest(2, {});
    Stream stream(Noise::loud, 6);
    execute(contest, stream, {1, 1}, 20);
    const int rival = 1 - contest.leader();
    while (contest.next() != rival) contest.measured(stream.next());
    for (int i = 0; i < at; ++i) contest.measured(stream.next());
    contest.measured(10000);
    EXPECT_GT(execute(contest, stream, {1, 1}, 200)[static_cast<std::size_t>(rival)], 20) << at;
  }
}

TEST(Contest, AfterAChangeARivalThatWasMuchSlowerIsTriedAgain) {
  for (const double leading : {0.5, 1.3, 2.0}) {
    Contest contest(2, {});
    Stream stream(Noise::steady, 8);
    EXPECT_EQ(execute(contest, stream, {1, 16}, 600)[1], 1);
    execute(contest, stream, {leading, 0.8 * leading}, 600);
    EXPECT_EQ(contest.leader(), 1) << leading;
  }
}

TEST(Contest, OneTrialDecidesAfterALargeChange) {
  for (const int before : {50, 100, 1000}) {
    Contest contest(2, {});
    Stream stream(Noise::steady, before);
    execute(contest, stream, {1, 1.1}, before);
    ASSERT_EQ(contest.leader(), 0);
    execute(contest, stream, {2, 1.1}, 8);  // 4 that raise the alarm, 4 of the trial
    EXPECT_EQ(contest.leader(), 1) << before;
  }
}

TEST(Contest, AfterOneTrialThatMisledTheFormerLeaderReturns) {
  Contest contest(2, {});
  Stream stream(Noise::steady, 3);
  execute(contest, stream, {1, 1.05}, 200);
  execute(contest, stream, {2, 1.05}, 8);
  ASSERT_EQ(contest.leader(), 1);
  execute(contest, stream, {1, 1.05}, 60);
  EXPECT_EQ(contest.leader(), 0);
}

// 0.1 % of noise: after 100 executions, the deviation that is known is less than the least change that is searched for.
TEST(Contest, FindsAChangeInAlmostNoNoise) {
  Contest contest(2, {});
  const auto run = [&](double first, double second, int executions) {
    for (int i = 0; i < executions; ++i)
      contest.measured((contest.next() == 0 ? first : second) * (1 + 0.001 * (i % 3)));
  };
  run(1, 1.2, 1000);
  ASSERT_EQ(contest.leader(), 0);
  run(1.3, 1.2, 100);
  EXPECT_EQ(contest.leader(), 1);
}

TEST(Contest, ARivalThatIsMuchSlowerAfterEachChangeCostsNoMoreThanTheBudget) {
  Contest contest(2, {});
  Stream stream(Noise::steady, 8);
  int count = 0;
  constexpr int kExecutions = 10000;
  for (int i = 0; i < kExecutions; ++i) {
    const double duration = i / 100 % 2 ? 1.3 : 1;
    count += contest.next() == 1;
    contest.measured(stream.next() * duration * (contest.next() == 1 ? 16 : 1));
  }
  EXPECT_GT(count, 2);
  EXPECT_LT(15 * (count - 1), 0.01 * kExecutions + Contest::kLoan) << "without the survey";
}

TEST(Contest, GoesOnWithoutACandidateThatCannotBeExecuted) {
  Contest contest(3, {});
  Stream stream(Noise::steady, 9);
  const double ratio[] = {1, 0.6, 0.8};
  std::array<int, 3> count{};
  const auto execute = [&](int executions, int missing) {
    for (int i = 0; i < executions; ++i) {
      if (contest.next() == missing) contest.abandon();
      ASSERT_NE(contest.next(), missing);
      ++count[static_cast<std::size_t>(contest.next())];
      contest.measured(stream.next() * ratio[contest.next()]);
    }
  };
  execute(300, 1);
  EXPECT_EQ(contest.leader(), 2);
  EXPECT_EQ(contest.typical(1), 0);
  EXPECT_GT(count[2], 250);
  execute(300, -1);
  EXPECT_EQ(contest.leader(), 1);
}

TEST(Contest, OfCandidatesThatCannotBeExecutedTheFirstLeads) {
  Contest contest(3, {}, 1);
  contest.measured(1);
  for (int i = 0; i < 3; ++i) contest.abandon();
  EXPECT_EQ(contest.leader(), 1);
  EXPECT_EQ(contest.next(), 1);
  contest.abandon();
  EXPECT_EQ(contest.next(), 1);
}

TEST(Contest, PrefersTheProgramsOwnBehaviourAmongEqualOnes) {
  Contest contest(3, {});
  Stream stream(Noise::steady, 3);
  const double ratio[] = {1, 0.998, 0.999};
  for (int i = 0; i < 4; ++i) contest.measured(ratio[contest.next()]);
  EXPECT_EQ(contest.leader(), 0);
}

}  // namespace
}  // namespace steelyard::decide
