// SPDX-License-Identifier: BSD-3-Clause
#include "decide/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "decide/streams.h"

namespace steelyard::decide {
namespace {

Estimate before(Stream& stream, int count) {
  Estimate estimate;
  for (int i = 0; i < count; ++i) estimate.add(std::log(stream.next()));
  return estimate;
}

/// How a change ends that was promised to gain `promise`, and gains `gain`, after at most `executions`.
Forecast::Result judge(Noise noise, int seed, double promise, double gain, int executions, int* needed = nullptr) {
  Stream stream(noise, seed);
  Forecast forecast(promise, before(stream, 20));
  for (int i = 1; i <= executions; ++i) {
    forecast.add(std::log(stream.next() * (1 - gain)));
    if (needed != nullptr) *needed = i;
    const Forecast::Result result = forecast.result(0.95);
    if (result != Forecast::Result::undecided) return result;
  }
  return Forecast::Result::undecided;
}

TEST(Forecast, IsUndecidedWithoutMeasurements) {
  const Forecast forecast(0.2, Estimate());
  EXPECT_EQ(forecast.result(0.95), Forecast::Result::undecided);
  EXPECT_EQ(forecast.gain(), 0);
}

TEST(Forecast, IsConfirmedWhereItIsKept) {
  int needed = 0;
  EXPECT_EQ(judge(Noise::steady, 1, 0.2, 0.2, 50, &needed), Forecast::Result::confirmed);
  EXPECT_LE(needed, 5);
}

TEST(Forecast, IsConfirmedWhereLessIsGainedThanPromised) {
  EXPECT_EQ(judge(Noise::steady, 1, 0.5, 0.1, 50), Forecast::Result::confirmed);
}

TEST(Forecast, IsRefutedWhereNothingIsGained) {
  EXPECT_EQ(judge(Noise::steady, 1, 0.2, 0, 50), Forecast::Result::refuted);
  EXPECT_EQ(judge(Noise::steady, 1, 0.2, -0.3, 50), Forecast::Result::refuted);
}

TEST(Forecast, IsUndecidedInNoiseThatHidesThePromise) {
  EXPECT_EQ(judge(Noise::loud, 1, 0.01, 0.01, 20), Forecast::Result::undecided);
}

TEST(Forecast, GainIsAFractionOfTheDurationBefore) {
  Estimate before;
  for (int i = 0; i < 10; ++i) before.add(std::log(2));
  Forecast forecast(0.2, before);
  for (int i = 0; i < 10; ++i) forecast.add(std::log(1.5));
  EXPECT_NEAR(forecast.gain(), 0.25, 1e-12);
  EXPECT_TRUE(forecast.interval(0.95).contains(0.25));
  EXPECT_FALSE(forecast.interval(0.95).contains(0.5));
}

TEST(Forecast, SeldomConfirmsWhatGainsNothing) {
  for (const Noise noise : {Noise::steady, Noise::loud, Noise::heavy_tailed, Noise::spikes}) {
    int wrong = 0;
    for (int run = 0; run < 1000; ++run) wrong += judge(noise, run, 0.1, 0, 50) == Forecast::Result::confirmed;
    std::printf("  %s: %d of 1000 wrong\n", std::string(name(noise)).c_str(), wrong);
    EXPECT_LE(wrong, 50);
  }
}

}  // namespace
}  // namespace steelyard::decide
