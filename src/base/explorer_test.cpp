// SPDX-License-Identifier: BSD-3-Clause
#include "base/explorer.h"

#include <gtest/gtest.h>

namespace steelyard::explorer {
namespace {

constexpr std::uint64_t kMostRuns = 1000;

/// Two threads that run `body`, and a check of what they share.
Outcome two(const std::function<void(std::array<Atomic<int>, 2>&, int)>& body,
            const std::function<bool(std::array<Atomic<int>, 2>&)>& right) {
  Explorer all;
  return all.explore(
      [&] {
        const auto shared = std::make_shared<std::array<Atomic<int>, 2>>();
        Scenario scenario;
        for (int t = 0; t < 2; ++t) scenario.threads.emplace_back([=, &body] { body(*shared, t); });
        scenario.verdict = [=, &right] { return right(*shared) ? "" : "an order that must not be"; };
        return scenario;
      },
      kMostRuns);
}

TEST(Explorer, FindsALostUpdate) {
  const Outcome outcome = two([](auto& shared, int) { shared[0].store(shared[0].load() + 1); },
                              [](auto& shared) { return shared[0].load() == 2; });
  EXPECT_EQ(outcome.wrong, "an order that must not be");
}

TEST(Explorer, FindsThreadsThatWaitForEachOther) {
  const Outcome outcome = two(
      [](auto& shared, int thread) {
        while (shared[static_cast<std::size_t>(1 - thread)].load() == 0) pause();
        shared[static_cast<std::size_t>(thread)].store(1);
      },
      [](auto&) { return true; });
  EXPECT_EQ(outcome.wrong, "a hang");
}

TEST(Explorer, RunsIndependentOperationsInOneOrder) {
  const Outcome apart = two([](auto& shared, int thread) { shared[static_cast<std::size_t>(thread)].store(1); },
                            [](auto&) { return true; });
  EXPECT_TRUE(apart.complete);
  EXPECT_EQ(apart.ended, 1U);
  const Outcome together = two([](auto& shared, int) { shared[0].fetch_add(1); }, [](auto&) { return true; });
  EXPECT_TRUE(together.complete);
  EXPECT_EQ(together.ended, 2U);
}

// Three threads with two operations each at one location have 6!/(2!)^3 orders, at locations of their own one.
TEST(Explorer, RunsEachOrderOfDependentOperationsOnce) {
  const auto orders = [](bool same) {
    return Explorer()
        .explore(
            [same] {
              const auto words = std::make_shared<std::array<Atomic<int>, 3>>();
              Scenario scenario{{}, [] { return ""; }};
              for (std::size_t i = 0; i < 3; ++i) {
                scenario.threads.emplace_back([words, i, same] {
                  for (int steps = 0; steps < 2; ++steps) (*words)[same ? 0 : i].fetch_add(1);
                });
              }
              return scenario;
            },
            kMostRuns)
        .ended;
  };
  EXPECT_EQ(orders(true), 90U);
  EXPECT_EQ(orders(false), 1U);
}

TEST(Explorer, ReadsOfSharedDataAreOperations) {
  struct Pair {
    Shared<int> one, other;
  };
  const Outcome outcome = Explorer().explore(
      [] {
        const auto pair = std::make_shared<Pair>();
        const auto seen = std::make_shared<bool>(false);
        return Scenario{{[pair] {
                           pair->one = 1;
                           pair->other = 1;
                         },
                         [pair, seen] { *seen = pair->other == 1 && pair->one == 0; }},
                        [seen] { return *seen ? "the second write was seen without the first" : ""; }};
      },
      kMostRuns);
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.ended, 2U);
}

// A wait whose condition has become true is no hang: the other thread may have stored between the load and the pause.
TEST(Explorer, SeesAWaitThroughToItsEnd) {
  const Outcome outcome = two(
      [](auto& shared, int thread) {
        if (thread == 0)
          shared[0].store(1);
        else
          while (shared[0].load() == 0) pause();
      },
      [](auto&) { return true; });
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.ended, 1U);
}

}  // namespace
}  // namespace steelyard::explorer
