// SPDX-License-Identifier: BSD-3-Clause
#include "decide/contest.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  Contest contest(1);
  EXPECT_TRUE(contest.settled());
  for (int i = 0; i < 100; ++i) contest.measured(1);
  EXPECT_TRUE(contest.settled());
  EXPECT_EQ(contest.leader(), 0);
}

TEST(Contest, ExecutesEachOnceThenTheFastestOfClearlyDifferentOnes) {
  Contest contest(5);
  Stream stream(Noise::steady, 1);
  const std::vector<int> count = execute(contest, stream, {16, 8, 1, 8, 16}, 100);
  EXPECT_EQ(contest.leader(), 2);
  EXPECT_TRUE(contest.settled());
  EXPECT_EQ(count, (std::vector<int>{2, 1, 95, 1, 1}));
}

TEST(Contest, TheFirstExecutionAfterAChangeDoesNotCount) {
  Contest contest(2);
  int last = -1;
  for (int i = 0; i < 400; ++i) {
    const int candidate = contest.next();
    contest.measured((candidate == 1 ? 0.95 : 1) * (candidate != last ? 1.5 : 1));
    last = candidate;
  }
  EXPECT_EQ(contest.leader(), 1);
  EXPECT_NEAR(contest.gain_over(0).value, 0.05, 0.001);
}

class OfNoise : public testing::TestWithParam<Noise> {};

TEST_P(OfNoise, FewWrongLeadersAmongEqualOnes) {
  int changed = 0;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    Stream stream(GetParam(), run);
    Contest contest(2);
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
    Contest contest(2);
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
    Contest contest(4);
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
  std::printf("  lost executions: %.1f mean, %.1f at most, of %d\n", mean, worst, kExecutions);
  // The survey costs 3.55.
  EXPECT_LT(mean, 0.01 * kExecutions + Contest::kLoan + 4);
}

TEST_P(OfNoise, FindsAChange) {
  std::vector<int> delays;
  for (int run = 0; run < 200; ++run) {
    Stream stream(GetParam(), run);
    Contest contest(2);
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
  Contest contest(2), undisturbed(2);
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
  Contest a(5), b(5);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(a.next(), b.next());
    const double duration = stream.next();
    ASSERT_EQ(a.measured(duration), b.measured(duration));
  }
}

TEST(Contest, ReopensLessAndLessOftenWhereNothingIsGained) {
  Contest contest(2);
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

TEST(Contest, PrefersTheProgramsOwnBehaviourAmongEqualOnes) {
  Contest contest(3);
  Stream stream(Noise::steady, 3);
  const double ratio[] = {1, 0.998, 0.999};
  for (int i = 0; i < 4; ++i) contest.measured(ratio[contest.next()]);
  EXPECT_EQ(contest.leader(), 0);
}

}  // namespace
}  // namespace steelyard::decide
