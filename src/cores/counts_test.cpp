// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cores/plan.h"

namespace steelyard::cores {
namespace {

ProcessLoad process(int threads, double parallel, double serial = 0) {
  ProcessLoad load;
  load.threads = threads;
  load.parallel = parallel;
  load.region_wall = parallel / threads;
  load.serial = serial;
  return load;
}

std::vector<ProcessLoad> processes(int threads, const std::vector<double>& parallel) {
  std::vector<ProcessLoad> loads;
  for (double seconds : parallel) loads.push_back(process(threads, seconds));
  return loads;
}

std::vector<Scaling> perfect(std::size_t n) { return std::vector<Scaling>(n); }

double longest(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling,
               const std::vector<int>& counts) {
  double busy = 0;
  for (std::size_t p = 0; p < loads.size(); ++p) busy = std::max(busy, forecast_busy(loads[p], scaling[p], counts[p]));
  return busy;
}

int sum(const std::vector<int>& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

int changes(const std::vector<ProcessLoad>& loads, const std::vector<int>& counts) {
  int total = 0;
  for (std::size_t p = 0; p < loads.size(); ++p) total += std::abs(counts[p] - loads[p].threads);
  return total;
}

TEST(ForecastBusy, DividesThreadSecondsAndKeepsSerialTime) {
  EXPECT_DOUBLE_EQ(forecast_busy(process(6, 12, 0.5), {}, 6), 2.5);
  EXPECT_DOUBLE_EQ(forecast_busy(process(6, 12, 0.5), {}, 12), 1.5);
  EXPECT_DOUBLE_EQ(forecast_busy(process(4, 8), {0.5}, 1), 4);
  EXPECT_DOUBLE_EQ(forecast_busy(process(4, 8), {0}, 1), 2);
}

TEST(ForecastBusy, SeesThroughBorrowedCores) {
  ProcessLoad load = process(2, 6);
  load.region_wall = 2;  // three seconds' work on two cores, done in two with a borrowed one
  EXPECT_DOUBLE_EQ(measured_busy(load), 2);
  EXPECT_DOUBLE_EQ(forecast_busy(load, {}, 2), 3);
}

TEST(ForecastBusy, CountsRegionsWhereMostThreadsIdleAtTheirWallTime) {
  ProcessLoad load = process(6, 1);
  load.region_wall = 1;
  EXPECT_DOUBLE_EQ(forecast_busy(load, {}, 6), 1);
}

TEST(ProportionalCounts, RoundsByLargestRemainder) {
  const auto loads = processes(6, {1.45, 1.25, 1.10, 1.00, .95, .85, .75, .65});
  EXPECT_EQ(proportional_counts(loads, 48, 24), (std::vector<int>{9, 7, 7, 6, 6, 5, 4, 4}));
}

TEST(ProportionalCounts, PapersFigureOne) {
  EXPECT_EQ(proportional_counts(processes(12, {14, 9, 13, 12}), 48, 24), (std::vector<int>{14, 9, 13, 12}));
}

TEST(ProportionalCounts, KeepsWhatIsWhereNothingWasMeasured) {
  EXPECT_EQ(proportional_counts(processes(6, {0, 0, 0}), 18, 0), (std::vector<int>{6, 6, 6}));
}

TEST(ProportionalCounts, SurvivesLoadsOfVeryDifferentSize) {
  EXPECT_EQ(proportional_counts(processes(4, {1e-300, 1e9}), 8, 0), (std::vector<int>{1, 7}));
}

TEST(ProportionalCounts, KeepsLimitsAndUsesAllCoresThatItMay) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<ProcessLoad> loads;
    int cores = 0, most = 0;
    const int n = 1 + static_cast<int>(random() % 9), domain = 1 + static_cast<int>(random() % 20);
    for (int p = 0; p < n; ++p) {
      loads.push_back(process(1 + static_cast<int>(random() % 6), static_cast<double>(random() % 1000)));
      loads[p].fixed = random() % 5 == 0;
      if (random() % 4 == 0) loads[p].ceiling = 1 + static_cast<int>(random() % 8);
      cores += loads[p].threads;
      most += loads[p].fixed ? loads[p].threads : loads[p].parallel > 0 ? std::min(domain, loads[p].ceiling) : 1;
    }
    const auto counts = proportional_counts(loads, cores, domain);
    const bool loaded = std::any_of(loads.begin(), loads.end(), [](auto& l) { return !l.fixed && l.parallel > 0; });
    ASSERT_LE(sum(counts), cores);
    if (loaded) {
      ASSERT_EQ(sum(counts), std::min(cores, most)) << "round " << round;
    }
    for (int p = 0; p < n; ++p) {
      ASSERT_GE(counts[p], loads[p].fixed ? loads[p].threads : 1);
      ASSERT_LE(counts[p], loads[p].fixed ? loads[p].threads : std::min(domain, loads[p].ceiling));
    }
  }
}

TEST(OptimalCounts, ChangesNothingWhereNothingGetsBetter) {
  EXPECT_EQ(optimal_counts(processes(6, {1, 1, 1}), perfect(3), 18, 0), (std::vector<int>{6, 6, 6}));
  EXPECT_EQ(optimal_counts(processes(6, {0, 0, 0}), perfect(3), 18, 0), (std::vector<int>{6, 6, 6}));
  EXPECT_EQ(optimal_counts(processes(6, {3, 1}), {{0}, {1}}, 12, 0), (std::vector<int>{6, 6}));
}

TEST(OptimalCounts, TakesFromThoseWhoFeelItLeast) {
  EXPECT_EQ(optimal_counts(processes(4, {8, 1, 4}), perfect(3), 12, 0), (std::vector<int>{7, 1, 4}));
}

/// All counts within the limits, by recursion; returns the shortest longest process and the fewest changes that reach
/// it.
struct Exhaustive {
  const std::vector<ProcessLoad>& loads;
  const std::vector<Scaling>& scaling;
  int domain;
  double busy = 1e300;
  int changed = 0;
  std::vector<int> counts = std::vector<int>(loads.size(), 0);

  void search(std::size_t p, int left) {
    if (p == loads.size()) {
      const double now = longest(loads, scaling, counts);
      const int changed_now = changes(loads, counts);
      if (now < busy * (1 - 1e-9) || (now <= busy * (1 + 1e-9) && changed_now < changed)) {
        busy = std::min(busy, now);
        changed = changed_now;
      }
      return;
    }
    const int low = loads[p].fixed ? loads[p].threads : 1;
    const int high = loads[p].fixed ? low : std::min({loads[p].ceiling, domain, left});
    for (counts[p] = low; counts[p] <= high && counts[p] <= left; ++counts[p]) search(p + 1, left - counts[p]);
  }
};

TEST(OptimalCounts, EqualsExhaustiveSearch) {
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    std::vector<ProcessLoad> loads;
    std::vector<Scaling> scaling;
    int cores = 0;
    const int n = 1 + static_cast<int>(random() % 4);
    for (int p = 0; p < n; ++p) {
      loads.push_back(process(1 + static_cast<int>(random() % 4), static_cast<double>(random() % 12),
                              static_cast<double>(random() % 3)));
      scaling.push_back({static_cast<double>(random() % 5) / 4});
      loads[p].fixed = random() % 6 == 0;
      if (random() % 4 == 0) loads[p].ceiling = 1 + static_cast<int>(random() % 5);
      cores += loads[p].threads;
    }
    cores += static_cast<int>(random() % 3);
    const int domain = 4 + static_cast<int>(random() % 6);
    Exhaustive exhaustive{loads, scaling, domain};
    exhaustive.search(0, cores);
    const auto counts = optimal_counts(loads, scaling, cores, domain);
    ASSERT_LE(sum(counts), cores);
    ASSERT_NEAR(longest(loads, scaling, counts), exhaustive.busy, 1e-9) << "round " << round;
    ASSERT_EQ(changes(loads, counts), exhaustive.changed) << "round " << round;
    for (int p = 0; p < n; ++p) {
      ASSERT_GE(counts[p], 1);
      ASSERT_LE(counts[p], loads[p].fixed ? loads[p].threads : std::min(loads[p].ceiling, domain));
    }
  }
}

TEST(LeastCounts, AreTheFewestThatStayWithinTheTime) {
  const auto loads = processes(4, {8, 1, 4});
  EXPECT_EQ(least_counts(loads, perfect(3), 2.0, 8), (std::vector<int>{4, 1, 2}));
  EXPECT_EQ(least_counts(loads, perfect(3), 0.1, 8), (std::vector<int>{8, 8, 8}));
}

}  // namespace
}  // namespace steelyard::cores
