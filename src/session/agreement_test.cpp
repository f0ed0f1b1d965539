// SPDX-License-Identifier: BSD-3-Clause
#include "session/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace steelyard::session {
namespace {

constexpr std::uint64_t kMost = (std::uint64_t{1} << Agreement::kBits) - 1;

TEST(Agreement, TheFirstSaysForAllOfThisLoopAndNotOfTheNext) {
  Agreement agreement;
  EXPECT_EQ(agreement.at(0, [] { return 7; }), 7U);
  EXPECT_EQ(agreement.at(1, [] { return kMost; }), kMost);
  EXPECT_EQ(agreement.at(0, [] { return 8; }), 7U);
  EXPECT_EQ(agreement.at(1, [] { return 8; }), kMost);
  EXPECT_EQ(agreement.at(2, [] { return 0; }), 0U) << "an answer of 0 is one, too";
  EXPECT_EQ(agreement.at(2, [] { return 8; }), 0U);
}

TEST(Agreement, KnowsNothingOfTheRegionBefore) {
  Agreement agreement;
  for (std::uint32_t loop = 0; loop < 3 * Agreement::kKept; ++loop) agreement.at(loop, [] { return 1; });
  agreement.reset();
  for (std::uint32_t loop = 0; loop < 3 * Agreement::kKept; ++loop)
    EXPECT_EQ(agreement.at(loop, [] { return 2; }), 2U) << loop;
}

TEST(Agreement, WhoIsTooFarBehindSaysForItselfAndSpoilsNothing) {
  Agreement agreement;
  agreement.at(Agreement::kKept, [] { return 1; });
  EXPECT_EQ(agreement.at(0, [] { return 2; }), 2U);
  EXPECT_EQ(agreement.at(Agreement::kKept, [] { return 3; }), 1U);
}

TEST(Agreement, GoesOnAfterAllNumbers) {
  Agreement agreement;
  constexpr std::uint32_t kNumbers = std::uint32_t{1} << (64 - Agreement::kBits);
  for (std::uint32_t loop = kNumbers - 100; loop != kNumbers + 100; ++loop) {
    EXPECT_EQ(agreement.at(loop, [] { return 1; }), 1U) << loop;
    EXPECT_EQ(agreement.at(loop, [] { return 2; }), 1U) << loop;
  }
}

TEST(Agreement, ThreadsThatAreSomeLoopsApartAgree) {
  constexpr std::uint32_t kLoops = 20000, kApart = 11;
  constexpr int kThreads = 4;
  Agreement agreement;
  std::vector<std::vector<std::uint64_t>> heard(kThreads);
  std::array<std::atomic<std::uint32_t>, kThreads> reached = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto me = static_cast<std::size_t>(t);
      for (std::uint32_t loop = 0; loop < kLoops; ++loop) {
        while (std::ranges::any_of(reached, [&](const auto& its) { return its.load() + kApart < loop; }))
          std::this_thread::yield();
        heard[me].push_back(agreement.at(loop, [&] { return loop * 4ULL + me; }));
        reached[me].store(loop + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 1; t < heard.size(); ++t) EXPECT_EQ(heard[t], heard[0]);
  for (std::uint32_t loop = 0; loop < kLoops; ++loop) EXPECT_EQ(heard[0][loop] / 4, loop);
}

}  // namespace
}  // namespace steelyard::session
