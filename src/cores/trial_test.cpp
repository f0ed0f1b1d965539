// SPDX-License-Identifier: BSD-3-Clause
#include "cores/trial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cores/length.h"
#include "cores/policy.h"

namespace steelyard::cores {
namespace {

TEST(Length, ItsIntervalHoldsTheMeanAlsoWhereNeighboursAreAlike) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const double alike : {0.0, 0.4, 0.7}) {
    int held = 0;
    for (int round = 0; round < 400; ++round) {
      Length length;
      double off = normal(random);
      for (int i = 0; i < 100; ++i) {
        length.add(0.05 * (1 + 0.02 * off));
        off = alike * off + std::sqrt(1 - alike * alike) * normal(random);
      }
      held += length.interval(0.95).contains(0.05) ? 1 : 0;
    }
    EXPECT_GT(held, 400 * 0.88)
        << alike;  // of independent figures, the interval of 95 % is for a mean known for certain
    EXPECT_LT(held, 400 * 0.99) << alike;
  }
  Length constant;
  EXPECT_EQ(constant.interval(0.95).half_width(), 0);
  for (int i = 0; i < 9; ++i) constant.add(0.25);
  EXPECT_EQ(constant.interval(0.95).half_width(), 0);
  EXPECT_EQ(constant.mean(), 0.25);
}

/// Two processes of two cores; the first computes all the time, the second for `busy` of it.
Window window(double elapsed, double busy = 1, int steps = 1) {
  Window made;
  made.elapsed = elapsed * steps;
  made.steps = steps;
  made.loads.resize(2);
  for (ProcessLoad& load : made.loads) load.threads = 2;
  made.loads[0].region_wall = elapsed * steps;
  made.loads[1].region_wall = elapsed * steps * busy;
  return made;
}

Trial trial(double forecast, const std::vector<double>& before, const std::vector<double>& after) {
  Trial made;
  made.forecast = forecast;
  for (double elapsed : before) made.before.add(window(elapsed));
  for (double elapsed : after) made.after.add(window(elapsed));
  return made;
}

TEST(Spell, KeepsTheLatestWindows) {
  Spell spell;
  EXPECT_EQ(spell.elapsed(), 0);
  for (int i = 0; i < 20; ++i) spell.add(window(i < 10 ? 9.0 : 1.1, 1, 4));
  EXPECT_DOUBLE_EQ(spell.elapsed(), 1.1);
  EXPECT_EQ(spell.windows(), Trial::kWindows);
}

TEST(Spell, EfficiencyIsTheComputingShareOfTheCores) {
  Spell spell;
  spell.add(window(2, 0.5));
  EXPECT_DOUBLE_EQ(spell.samples().front().efficiency, 0.75);
}

TEST(Trial, WaitsForASecondWindow) {
  EXPECT_EQ(trial(0.2, {1, 1}, {0.8}).judge(true, 0.01).ruling, Trial::Ruling::open);
  EXPECT_EQ(trial(0.2, {}, {0.8, 0.8}).judge(true, 0.01).ruling, Trial::Ruling::open);
}

TEST(Trial, HelpedWhereItDelivered) {
  const Trial::Judgement judgement = trial(0.2, {1, 1}, {0.8, 0.8}).judge(true, 0.01);
  EXPECT_EQ(judgement.ruling, Trial::Ruling::helped);
  EXPECT_DOUBLE_EQ(judgement.gain, 0.2);
  EXPECT_GT(judgement.interval.low, 0);
  EXPECT_TRUE(judgement.interval.contains(0.2));
}

TEST(Trial, WaitsForTheProofOfAGainThatIsLessThanForecast) {
  EXPECT_EQ(trial(0.3, {1, 1}, {0.95, 0.95}).judge(true, 0.01).ruling, Trial::Ruling::open);
  const std::vector<double> four(4, 0.95);
  EXPECT_EQ(trial(0.3, {1, 1, 1, 1}, four).judge(true, 0.01).ruling, Trial::Ruling::helped);
}

TEST(Trial, NeedsTheConfidenceThatIsSet) {
  Trial made = trial(0.1, {1, 1, 1, 1}, {0.95, 0.95, 0.95, 0.95});
  for (const double confidence : {0.5, 0.999}) {
    made.confidence = confidence;
    EXPECT_EQ(made.judge(true, 0.01).ruling, confidence < 0.9 ? Trial::Ruling::helped : Trial::Ruling::open)
        << confidence;
  }
}

TEST(Trial, KeepsWhatIsUndecidedButIsProbablyAGain) {
  for (const double forecast : {0.04, 0.3}) {
    const std::vector<double> many(8, 0.97);
    EXPECT_EQ(trial(forecast, {1, 1}, many).judge(true, 0.05).ruling, Trial::Ruling::kept) << forecast;
  }
}

TEST(Trial, IsSeldomUndoneWhereItGainsLessThanForecastInNoise) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 0.1);
  for (const double gain : {0.15, -0.15}) {
    int undone = 0;
    for (int round = 0; round < 400; ++round) {
      Trial made = trial(0.3, {}, {});
      for (int i = 0; i < 6; ++i) made.before.add(window(std::exp(normal(random))));
      Trial::Judgement judgement;
      while (judgement.ruling == Trial::Ruling::open) {
        made.after.add(window((1 - gain) * std::exp(normal(random))));
        judgement = made.judge(true, 0.1);
      }
      undone += judgement.ruling == Trial::Ruling::failed ? 1 : 0;
    }
    EXPECT_EQ(std::lround(undone / 400.0), gain > 0 ? 0 : 1) << undone;
    EXPECT_LT(std::min(undone, 400 - undone), 400 * 0.05) << undone;
  }
}

TEST(Trial, FailedWhereNothingCameOfIt) {
  EXPECT_EQ(trial(0.2, {1, 1}, {1, 1}).judge(true, 0.01).ruling, Trial::Ruling::failed);
  EXPECT_EQ(trial(0.2, {1, 1}, {1.3, 1.3}).judge(true, 0.05).ruling, Trial::Ruling::failed);
}

TEST(Trial, IsUndecidedWithoutTwoWindowsBeforeTheMove) {
  for (const std::vector<double>& before : {std::vector<double>{}, std::vector<double>{1}}) {
    EXPECT_EQ(trial(0.2, before, {1, 1}).judge(true, 0.01).ruling, Trial::Ruling::open);
    const Trial::Judgement judgement = trial(0.2, before, std::vector<double>(8, 1)).judge(true, 0.01);
    EXPECT_EQ(judgement.ruling, Trial::Ruling::kept);
    EXPECT_EQ(judgement.gain, 0);
  }
}

TEST(Trial, StaysOpenInNoiseButNotForEver) {
  std::vector<double> after(2, 1);
  EXPECT_EQ(trial(0.05, {1, 1}, after).judge(true, 0.2).ruling, Trial::Ruling::open);
  after.assign(8, 1);
  EXPECT_EQ(trial(0.05, {1, 1}, after).judge(true, 0.2).ruling, Trial::Ruling::failed);
}

TEST(Trial, WhereTheTotalVariesTheEfficiencyDecides) {
  Trial made;
  made.forecast = 0.25;
  for (int i = 0; i < 2; ++i) {
    made.before.add(window(1, 0.5));
    made.after.add(window(1.5, 1));  // twice the load, but no process waits
  }
  EXPECT_EQ(made.judge(true, 0.01).ruling, Trial::Ruling::failed);
  EXPECT_EQ(made.judge(false, 0.01).ruling, Trial::Ruling::helped);
}

}  // namespace
}  // namespace steelyard::cores
