// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/sanitized.h"
#include "loops/fraction.h"
#include "loops/plan.h"
#include "loops/profile.h"
#include "loops/range.h"
#include "loops/space.h"

namespace steelyard::loops {
namespace {

// ------------------------------------------------------------------------------------------------ iteration space

__extension__ using Wide = __int128;
__extension__ using WideUnsigned = unsigned __int128;

/// As a program's own loop goes, in a type that does not overflow.
std::vector<Wide> written_out(Wide first, Wide last, Wide stride, bool with_last) {
  std::vector<Wide> values;
  if (stride > 0) {
    for (Wide i = first; with_last ? i <= last : i < last; i += stride) values.push_back(i);
  } else {
    for (Wide i = first; with_last ? i >= last : i > last; i += stride) values.push_back(i);
  }
  return values;
}

template <class Value>
void expect_same(Value first, Value last, std::int64_t stride) {
  for (const bool with_last : {false, true}) {
    const auto space = with_last ? inclusive(first, last, stride) : half_open(first, last, stride);
    const auto values = written_out(first, last, stride, with_last);
    ASSERT_TRUE(space);
    ASSERT_EQ(space->count, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(static_cast<Value>(space->value(i)), static_cast<Value>(values[i]));
  }
}

TEST(Space, IsThatOfTheProgramsOwnLoop) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto near = [&] { return static_cast<std::int64_t>(random() % 60) - 30; };
    const std::int64_t stride = near() == 0 ? 1 : near();
    if (stride == 0) continue;
    expect_same<std::int64_t>(near(), near(), stride);
    // At the limits, from both sides.
    for (const std::int64_t limit : {INT64_MAX, INT64_MIN}) {
      const auto inwards = [&] {
        return limit > 0 ? limit - static_cast<std::int64_t>(random() % 40)
                         : limit + static_cast<std::int64_t>(random() % 40);
      };
      expect_same<std::int64_t>(inwards(), inwards(), stride);
      expect_same<std::int64_t>(limit, inwards(), stride);
    }
    expect_same<std::uint64_t>(UINT64_MAX - random() % 40, UINT64_MAX - random() % 40, stride);
    expect_same<std::uint64_t>(random() % 40, random() % 40, stride);
  }
}

TEST(Space, HugeStridesAndHugeCounts) {
  expect_same<std::int64_t>(INT64_MIN, INT64_MAX, INT64_MAX);
  expect_same<std::int64_t>(INT64_MAX, INT64_MIN, INT64_MIN);
  expect_same<std::uint64_t>(0, UINT64_MAX, INT64_MAX);
  expect_same<std::uint64_t>(UINT64_MAX, 0, INT64_MIN);
  EXPECT_EQ(half_open(INT64_MIN, INT64_MAX, 1)->count, UINT64_MAX);
  EXPECT_EQ(half_open(UINT64_C(0), UINT64_MAX, 1)->count, UINT64_MAX);
  EXPECT_EQ(inclusive(UINT64_C(1), UINT64_MAX, 1)->count, UINT64_MAX);
  EXPECT_FALSE(inclusive(UINT64_C(0), UINT64_MAX, 1)) << "2^64 iterations";
  EXPECT_FALSE(inclusive(INT64_MAX, INT64_MIN, -1));
  EXPECT_FALSE(half_open(INT64_C(0), INT64_C(5), 0));
  EXPECT_FALSE(inclusive(INT64_C(0), INT64_C(5), 0));
}

// ------------------------------------------------------------------------------------------------ ranges and chunks

TEST(Range, AWordSaysWhetherItWasTouchedInThisRound) {
  const Range planned{10, 20};
  for (const std::uint32_t round : {1U, 2U, UINT32_MAX}) {
    EXPECT_EQ(unpack(pack({3, 9}, round), round, planned).begin, 3U);
    EXPECT_EQ(unpack(pack({3, 9}, round), round, planned).end, 9U);
    EXPECT_TRUE(unpack(pack({}, round), round, planned).empty());
    EXPECT_TRUE(unpack(pack({7, 7}, round), round, planned).empty());
    EXPECT_EQ(unpack(pack({}, round - 1), round, planned).size(), 10U) << "untouched: as planned";
    EXPECT_EQ(unpack(0, round, planned).size(), 10U) << "never touched at all";
  }
}

TEST(Range, UnitsCoverAnyCount) {
  for (const std::uint64_t count :
       {UINT64_C(1), UINT64_C(0xFFFFFFFF), UINT64_C(0x100000000), UINT64_MAX - 1, UINT64_MAX}) {
    const std::uint64_t unit = unit_of(count), units = count / unit + (count % unit != 0);
    EXPECT_LE(units, UINT32_MAX);
    EXPECT_LE(static_cast<WideUnsigned>(units) * unit, UINT64_MAX) << "no overflow at the end";
  }
}

TEST(Range, GuidedAndFactoringGiveOutThePoolInShrinkingChunks) {
  for (const std::uint32_t pool : {1U, 5U, 100U, 4097U, 4'000'000'000U}) {
    for (const std::uint32_t threads : {1U, 2U, 7U, 48U}) {
      for (const ChunkRule rule : {ChunkRule::guided, ChunkRule::factoring}) {
        for (const std::uint32_t least : {1U, 16U}) {
          std::uint32_t left = pool, before = UINT32_MAX, same = 0;
          while (left > 0) {
            const std::uint32_t size = bite(rule, least, threads, pool, left);
            ASSERT_GT(size, 0U);
            ASSERT_LE(size, left);
            ASSERT_LE(size, before);
            ASSERT_TRUE(size >= least || size == left);
            same = size == before ? same + 1 : 1;
            before = size;
            left -= size;
          }
        }
      }
    }
  }
  // Factoring by hand: 1000 iterations, 4 threads: batches of 4 x 125, 4 x 63, 4 x 31, ...
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t left = 1000; left > 0; left -= sizes.back())
    sizes.push_back(bite(ChunkRule::factoring, 1, 4, 1000, left));
  EXPECT_EQ(std::vector<std::uint32_t>(sizes.begin(), sizes.begin() + 12),
            (std::vector<std::uint32_t>{125, 125, 125, 125, 63, 63, 63, 63, 31, 31, 31, 31}));
}

TEST(Range, ThievesTakeHalfAndTheLastOne) {
  EXPECT_EQ(loot(Steal::half, 5, 100), 50U);
  EXPECT_EQ(loot(Steal::half, 5, 1), 1U);
  EXPECT_EQ(loot(Steal::half, 5, 7), 4U);
  EXPECT_EQ(loot(Steal::chunk, 5, 100), 5U);
  EXPECT_EQ(loot(Steal::chunk, 5, 3), 3U);
  EXPECT_EQ(loot(Steal::none, 5, 3), 0U);
}

// ------------------------------------------------------------------------------------------------ plans

TEST(Plan, CoversTheLoopWhateverTheInput) {
  std::mt19937_64 random(2);
  const double odd[] = {0,     -1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                        1e300, 3};
  for (int round = 0; round < 4000; ++round) {
    Shape shape{random() >> (random() % 64), 1 + static_cast<int>(random() % 50)};
    Settings settings{static_cast<Strategy>(random() % kStrategies), odd[random() % 6],
                      random() % 3 == 0 ? random() : 0};
    Measured measured;
    measured.iteration_ns = odd[random() % 6];
    measured.stolen_ns = odd[random() % 6];
    measured.spread_ns = odd[random() % 6];
    measured.slack_ns = odd[random() % 6];
    if (random() % 2 == 0) measured.boundaries = even_parts(static_cast<int>(1 + random() % 50));
    const Plan plan = make_plan(shape, settings, measured);
    ASSERT_EQ(plan.boundaries.size(), static_cast<std::size_t>(shape.threads) + 1);
    ASSERT_EQ(plan.boundaries.front(), 0U);
    ASSERT_LE(plan.pool, shape.count);
    ASSERT_EQ(plan.boundaries.back(), plan.pool) << "with the pool all is covered";
    for (int t = 0; t < shape.threads; ++t) {
      const auto i = static_cast<std::size_t>(t);
      ASSERT_LE(plan.boundaries[i], plan.boundaries[i + 1]);
      ASSERT_LE(plan.boundaries[i], plan.dynamic_begin(t));
      ASSERT_LE(plan.dynamic_begin(t), plan.boundaries[i + 1]);
    }
    ASSERT_GE(plan.chunk, 1U);
    ASSERT_EQ(plan, make_plan(shape, settings, measured)) << "pure";
  }
}

TEST(Plan, IsWhatThePaperSays) {
  const Shape shape{1000, 4};
  Measured nothing;
  Plan plan = make_plan(shape, {Strategy::even}, nothing);
  EXPECT_EQ(plan.boundaries, (std::vector<std::uint64_t>{0, 250, 500, 750, 1000}));
  EXPECT_EQ(plan.dynamic_begin(2), 750U);
  EXPECT_EQ(plan.steal, Steal::none);

  plan = make_plan(shape, {Strategy::hybrid, 0.6}, nothing);  // static on [0, f_s N), then a pool
  EXPECT_EQ(plan.pool, 600U);
  EXPECT_EQ(plan.boundaries, (std::vector<std::uint64_t>{0, 150, 300, 450, 600}));
  EXPECT_EQ(plan.dynamic_begin(1), 300U);

  plan = make_plan(shape, {Strategy::staggered, 0.6}, nothing);  // f_s of each thread's own block, then its own tail
  EXPECT_EQ(plan.pool, 1000U);
  EXPECT_EQ(plan.dynamic_begin(1), 400U);
  EXPECT_EQ(plan.boundaries[2], 500U);
  EXPECT_EQ(plan.steal, Steal::chunk);

  Measured noisy;
  noisy.iteration_ns = 100;
  noisy.spread_ns = 2500;  // a tenth of a thread's 25,000 ns
  plan = make_plan(shape, {Strategy::tuned}, noisy);
  // Without the cost of taking a chunk, f_d = 4 * 2500 / (1000 * 100) = 0.1: 25 iterations a thread, in chunks of 4.
  // q = 40 / 4 = 10 ns, so f_d = 4 * 2500 / (1000 * 110) = 1 / 11.
  EXPECT_NEAR(plan.static_fraction, 1 - 1.0 / 11, 1e-9);
  noisy.slack_ns = 1000;  // pays for 1000 * 4 / (1000 * 100) = 0.04
  EXPECT_NEAR(make_plan(shape, {Strategy::slack}, noisy).static_fraction, 1.04 - 1.0 / 11, 1e-9);
  plan = make_plan(shape, {Strategy::combined}, noisy);
  EXPECT_NEAR(plan.static_fraction, 1.04 - 1.0 / 11, 1e-9);
  EXPECT_EQ(plan.pool, 1000U) << "staggered";
}

TEST(Plan, AModifierChangesOnlyWhatItNames) {
  Measured noisy;
  noisy.iteration_ns = 100;
  noisy.spread_ns = 2500;
  noisy.slack_ns = 1000;
  const Shape shape{1000, 4};
  const auto plan_of = [&](int modifiers, double fraction) {
    return make_plan(shape, {static_cast<Strategy>(static_cast<int>(Strategy::hybrid) + modifiers), fraction}, noisy);
  };
  for (int modifiers = 0; modifiers < 8; ++modifiers) {
    const bool tuned = modifiers & 1, slack = modifiers & 2, staggered = modifiers & 4;
    const Plan plan = plan_of(modifiers, 0.6);
    EXPECT_EQ(plan.pool, staggered ? 1000U : std::lround(1000 * plan.static_fraction)) << modifiers;
    EXPECT_EQ(plan.steal, staggered ? Steal::chunk : Steal::none) << modifiers;
    EXPECT_NEAR(plan.static_fraction, (tuned ? 1 - 1.0 / 11 : 0.6) + (slack ? 0.04 : 0), 1e-9) << modifiers;
    EXPECT_EQ(plan_of(modifiers, 0.3).static_fraction == plan.static_fraction, tuned) << modifiers;
    noisy.iteration_ns = 0;  // before the first execution
    EXPECT_EQ(plan_of(modifiers, 0.6).static_fraction, 0.6) << modifiers;
    noisy.iteration_ns = 100;
  }
}

TEST(Plan, CountsTheCostOfTakingAChunkByItsLength) {
  Measured noisy;
  noisy.iteration_ns = 100;
  noisy.spread_ns = 2500;
  const auto dynamic = [&](std::uint64_t chunk) {
    return 1 - make_plan({1000, 4}, {Strategy::tuned, 0.5, chunk}, noisy).static_fraction;
  };
  // f_d = p (d_max - d_avg) / (N (t + q)) with q = 40 ns / chunk
  EXPECT_NEAR(dynamic(1), 10'000.0 / (1000 * 140), 1e-9);
  EXPECT_NEAR(dynamic(10), 10'000.0 / (1000 * 104), 1e-9);
  noisy.stolen_ns = 160;  // and 60 ns for the loss of locality
  EXPECT_NEAR(dynamic(1), 10'000.0 / (1000 * 200), 1e-9);
}

TEST(Plan, EvenPartsDifferByOneAtMost) {
  for (const std::uint64_t count : {UINT64_C(0), UINT64_C(1), UINT64_C(10), UINT64_C(1000003), UINT64_MAX}) {
    const Plan plan = make_plan({count, 7}, {Strategy::steal}, {});
    for (std::size_t t = 0; t < 7; ++t) {
      const std::uint64_t size = plan.boundaries[t + 1] - plan.boundaries[t];
      EXPECT_TRUE(size == count / 7 || size == count / 7 + 1) << count;
    }
  }
}

TEST(Plan, NamesGoThereAndBackAndMistakesAreSentences) {
  for (int i = 0; i < kStrategies; ++i) {
    Strategy strategy{};
    ASSERT_TRUE(parse_strategy(name_of(static_cast<Strategy>(i)), strategy));
    EXPECT_EQ(static_cast<int>(strategy), i);
  }
  Strategy strategy = Strategy::steal;
  const auto status = parse_strategy("stagered", strategy);
  EXPECT_FALSE(status);
  EXPECT_NE(status.sentence().find("did you mean staggered?"), std::string::npos) << status.sentence();
  EXPECT_FALSE(parse_strategy("off", strategy)) << "of the option only";
  EXPECT_EQ(strategy, Strategy::steal);
  for (const double bad : {-0.01, 1.01, std::nan("")}) EXPECT_FALSE(check({Strategy::hybrid, bad}));
  EXPECT_NE(check({Strategy::hybrid, 1.5}).sentence().find("1.5"), std::string::npos);
  for (const double good : {0.0, 1.0}) EXPECT_TRUE(check({Strategy::hybrid, good}));
}

TEST(Chunk, IsTheOneThatCostsLeast) {
  for (const double ns : {2e4, 1e6, 1e8}) {
    for (const double iteration : {1.0, 10.0, 1000.0}) {
      const auto iterations = static_cast<std::uint64_t>(ns / iteration);
      const auto cost = [&](std::uint64_t chunk) {
        const double c = static_cast<double>(chunk) * iteration;
        return kChunkCost * ns / c + c / 2;
      };
      double least = std::numeric_limits<double>::max();
      for (std::uint64_t chunk = 1; chunk <= iterations; chunk += 1 + chunk / 64) least = std::min(least, cost(chunk));
      // Within what rounding to a power of two costs.
      EXPECT_LE(cost(best_chunk(ns, iteration, iterations)), least * 1.10) << ns << ' ' << iteration;
    }
  }
}

// ------------------------------------------------------------------------------------------------ the static fraction

/// The model of fraction.h, executed: static parts, then dynamic iterations, each by the thread that is free first.
double executed(int count, const std::vector<double>& delays, double iteration, double price, double dynamic) {
  std::vector<double> now = delays;
  const int pool = static_cast<int>(std::lround(count * dynamic));
  for (double& time : now) time += (count - pool) * iteration / static_cast<double>(now.size());
  for (int i = 0; i < pool; ++i) *std::ranges::min_element(now) += iteration + price;
  return *std::ranges::max_element(now);
}

TEST(Fraction, TheModelsIsTheBestOfAll) {
  std::mt19937 random(4);
  for (int round = 0; round < (base::sanitized ? 6 : 60); ++round) {
    const int threads = 2 + static_cast<int>(random() % 12), count = 4000;
    const double iteration = 100, price = random() % 40;
    std::vector<double> delays(static_cast<std::size_t>(threads));
    for (double& delay : delays) delay = random() % 4 == 0 ? random() % 12000 : random() % 500;
    const double largest = *std::ranges::max_element(delays);
    const double mean = std::accumulate(delays.begin(), delays.end(), 0.0) / threads;
    const double dynamic = dynamic_fraction(count, threads, iteration, price, largest - mean);
    double best = std::numeric_limits<double>::max();
    for (int step = 0; step <= 400; ++step)
      best = std::min(best, executed(count, delays, iteration, price, step / 400.0));
    EXPECT_LE(executed(count, delays, iteration, price, dynamic), best * 1.005 + 2 * (iteration + price)) << threads;
    // The talk's bound, p (max - min) / (N (t + q)), is never below.
    EXPECT_GE(threads * (largest - *std::ranges::min_element(delays)) / (count * (iteration + price)), dynamic - 1e-12);
  }
}

TEST(Fraction, SlackIsUsedUpAndNotExceeded) {
  const int count = 4000;
  const double iteration = 100;
  for (const int threads : {2, 4, 16}) {
    std::vector<double> delays(static_cast<std::size_t>(threads));
    delays[0] = 6000;
    const double spread = 6000 - 6000.0 / threads;
    const double dynamic = dynamic_fraction(count, threads, iteration, 0, spread);
    const double best = executed(count, delays, iteration, 0, dynamic);
    for (const double slack : {500.0, 2000.0, 4000.0}) {
      const double less = less_slack(dynamic, count, threads, iteration, slack);
      const double longer = executed(count, delays, iteration, 0, less) - best;
      EXPECT_LE(longer, slack + 2 * iteration);
      if (less > 0) {
        EXPECT_GE(longer, slack - 2 * iteration) << "none is left unused";
      }
    }
    EXPECT_EQ(less_slack(dynamic, count, threads, iteration, 1e9), 0);
  }
}

// ------------------------------------------------------------------------------------------------ boundaries

TEST(Profile, EqualPartsAreAsGoodAsAnyDivision) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const int count = 6 + static_cast<int>(random() % 10);
    Profile profile;
    profile.place = even_parts(count);
    double dearest = 0;
    for (int i = 0; i < count; ++i) {
      profile.cost.push_back(1 + random() % 100);
      dearest = std::max(dearest, profile.cost.back());
    }
    const auto cost = [&](int begin, int end) {
      return std::accumulate(profile.cost.begin() + begin, profile.cost.begin() + end, 0.0);
    };
    double best = std::numeric_limits<double>::max();
    for (int a = 0; a <= count; ++a)
      for (int b = a; b <= count; ++b) best = std::min(best, std::max({cost(0, a), cost(a, b), cost(b, count)}));
    const auto parts = equal_parts(profile, 3);
    ASSERT_EQ(parts.size(), 4U);
    EXPECT_NEAR(imbalance(profile, parts), 0, 1e-9);
    // In whole iterations at most one more of them than the best division of all.
    double worst = 0;
    for (std::size_t t = 0; t < 3; ++t)
      worst = std::max(worst, cost(static_cast<int>(parts[t] * count), static_cast<int>(parts[t + 1] * count + 1e-9)));
    EXPECT_LE(worst, best + dearest);
  }
}

TEST(Profile, SumsAreThoseOfTheirParts) {
  const Profile a{{0, 0.5, 1}, {10, 30}}, b{{0, 0.25, 1}, {4, 6}};
  const Profile sum = add(a, b);
  EXPECT_DOUBLE_EQ(sum.total(), 50);
  for (const double place : {0.0, 0.1, 0.25, 0.4, 0.5, 0.9, 1.0})
    EXPECT_NEAR(sum.until(place), a.until(place) + b.until(place), 1e-9) << place;
  EXPECT_EQ(add(a, {}).cost, a.cost);
  EXPECT_EQ(equal_parts({}, 4), even_parts(4));
  EXPECT_EQ(equal_parts({{0, 1}, {0}}, 2), even_parts(2)) << "nothing costs anything";
  EXPECT_DOUBLE_EQ(imbalance(a, even_parts(2)), 0.5);
  EXPECT_DOUBLE_EQ(equal_parts(a, 2)[1], 0.5 + 10.0 / 60);
  EXPECT_DOUBLE_EQ(equal_parts({{0, 0.5, 1}, {0, 8}}, 2)[1], 0.75);
}

}  // namespace
}  // namespace steelyard::loops
