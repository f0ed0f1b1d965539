// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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

/// `loads` as threads and thread seconds, laid out domain after domain.
NodeShape fill(const std::vector<ProcessLoad>& loads, const std::vector<int>& capacity) {
  NodeShape shape{capacity, {}, 0};
  std::size_t domain = 0;
  int room = capacity[0];
  for (const ProcessLoad& load : loads) {
    shape.held.emplace_back(capacity.size(), 0);
    shape.budget += load.threads;
    for (int core = 0; core < load.threads; ++core) {
      while (room == 0) room = capacity[++domain];
      ++shape.held.back()[domain];
      --room;
    }
  }
  return shape;
}

std::vector<Scaling> perfect(std::size_t n) { return std::vector<Scaling>(n); }

double longest(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling,
               const std::vector<int>& counts) {
  double busy = 0;
  for (std::size_t p = 0; p < loads.size(); ++p) busy = std::max(busy, forecast_busy(loads[p], scaling[p], counts[p]));
  return busy;
}

void expect_possible(const Plan& made, const std::vector<ProcessLoad>& loads, const NodeShape& shape) {
  const std::vector<int> joined = joined_domains(shape);
  std::vector<int> room(shape.capacity.size(), 0);
  for (std::size_t d = 0; d < joined.size(); ++d) room[joined[d]] += shape.capacity[d];
  for (std::size_t p = 0; p < loads.size(); ++p) {
    EXPECT_GE(made.threads[p], 1);
    EXPECT_LE(made.threads[p], loads[p].ceiling);
    if (loads[p].fixed) {
      EXPECT_EQ(made.threads[p], loads[p].threads);
    }
    room[made.domain[p]] -= made.threads[p];
  }
  for (int left : room) EXPECT_GE(left, 0);
  EXPECT_LE(std::accumulate(made.threads.begin(), made.threads.end(), 0), shape.budget);
}

TEST(Plan, MovesCoresToTheHeavyProcess) {
  std::vector<ProcessLoad> loads{process(6, 12), process(6, 6), process(6, 6), process(6, 6)};
  const Plan made = plan(loads, perfect(4), fill(loads, {12, 12}));
  expect_possible(made, loads, fill(loads, {12, 12}));
  EXPECT_EQ(made.threads[0], 8);
  EXPECT_EQ(made.moved, 2);
  EXPECT_DOUBLE_EQ(made.busy_now, 2);
  EXPECT_DOUBLE_EQ(made.busy_then, 1.5);
  EXPECT_DOUBLE_EQ(made.gain(), 0.25);
}

TEST(Plan, MovesAProcessToAnotherDomainOnlyForAGain) {
  // Both heavy processes share a socket: only by exchanging one with a light process do all finish together.
  std::vector<ProcessLoad> loads{process(6, 9), process(6, 9), process(6, 3), process(6, 3)};
  const Plan made = plan(loads, perfect(4), fill(loads, {12, 12}));
  EXPECT_EQ(made.threads, (std::vector<int>{9, 9, 3, 3}));
  EXPECT_NE(made.domain[0], made.domain[1]);
  // A third of a per cent is no reason to leave one's memory behind.
  loads = {process(6, 6.01), process(6, 6.01), process(6, 6), process(6, 6)};
  EXPECT_EQ(plan(loads, perfect(4), fill(loads, {12, 12})).moved, 0);
}

TEST(Plan, KeepsABalancedNodeAsItIs) {
  std::vector<ProcessLoad> loads(8, process(6, 6));
  const Plan made = plan(loads, perfect(8), fill(loads, {24, 24}));
  EXPECT_EQ(made.method, "as it is");
  EXPECT_EQ(made.moved, 0);
  EXPECT_EQ(made.threads, std::vector<int>(8, 6));
  EXPECT_EQ(made.domain, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(made.gain(), 0);
}

TEST(Plan, LendingThatAlreadyBalancesLeavesNothingToGain) {
  std::vector<ProcessLoad> loads{process(2, 6), process(2, 2)};
  loads[0].region_wall = 2;  // instead of 3: it had two more cores for half of the time
  const Plan made = plan(loads, perfect(2), fill(loads, {4}));
  EXPECT_EQ(made.threads, (std::vector<int>{3, 1}));
  EXPECT_DOUBLE_EQ(made.gain(), 0);
}

TEST(Plan, AProcessThatSpansDomainsKeepsItsCores) {
  std::vector<ProcessLoad> loads{process(8, 16), process(8, 8)};
  const NodeShape shape = fill(loads, {4, 4, 4, 4});
  EXPECT_EQ(joined_domains(shape), (std::vector<int>{0, 0, 2, 2}));
  EXPECT_EQ(plan(loads, perfect(2), shape).threads, (std::vector<int>{8, 8}));
  // Spanning the border joins all: now cores can move.
  loads = {process(6, 12), process(10, 10)};
  const NodeShape mixed = fill(loads, {4, 4, 4, 4});
  EXPECT_EQ(joined_domains(mixed), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(plan(loads, perfect(2), mixed).threads, (std::vector<int>{9, 7}));
}

TEST(Plan, FixedProcessesKeepCountAndDomain) {
  std::vector<ProcessLoad> loads{process(6, 9), process(6, 9), process(6, 3), process(6, 3)};
  loads[0].fixed = true;
  const NodeShape shape = fill(loads, {12, 12});
  const Plan made = plan(loads, perfect(4), shape);
  EXPECT_EQ(made.threads[0], 6);
  EXPECT_EQ(made.domain[0], 0);
  for (ProcessLoad& load : loads) load.fixed = true;
  EXPECT_EQ(plan(loads, perfect(4), shape).method, "as it is");
}

TEST(Plan, RefusesWhatAllowsNoPlan) {
  EXPECT_EQ(plan({}, {}, {}).moved, 0);
  std::vector<ProcessLoad> loads{process(1, 4), process(1, 1), process(1, 1)};
  NodeShape crowded{{2}, {{1}, {1}, {0}}, 2};
  EXPECT_EQ(plan(loads, perfect(3), crowded).threads, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(plan(loads, perfect(2), fill(loads, {3})).moved, 0);
  NodeShape ragged{{3, 3}, {{1}, {1}, {1}}, 3};
  EXPECT_EQ(plan(loads, perfect(3), ragged).moved, 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  loads = {process(2, nan, nan), process(2, std::numeric_limits<double>::infinity())};
  const Plan made = plan(loads, perfect(2), fill(loads, {4}));
  EXPECT_EQ(made.moved, 0);
  EXPECT_TRUE(std::isfinite(made.gain()));
}

TEST(Plan, ProcessesThatHoldNoCoreGetADomain) {
  std::vector<ProcessLoad> loads{process(4, 8), process(4, 4)};
  NodeShape shape{{4, 4}, {{0, 0}, {0, 0}}, 8};
  EXPECT_EQ(plan(loads, perfect(2), shape).domain, (std::vector<int>{-1, -1}));  // no gain, so no process is placed
  loads = {process(4, 8), process(4, 4), process(1, 1)};
  shape = {{5, 4}, {{0, 0}, {0, 0}, {0, 0}}, 9};
  const Plan made = plan(loads, perfect(3), shape);
  EXPECT_GT(made.moved, 0);
  expect_possible(made, loads, shape);
}

/// The best over all assignments to domains, each with its own integer optimum.
double exhaustive(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, const NodeShape& shape) {
  double best = 1e300;
  const auto domains = static_cast<int>(shape.capacity.size());
  int assignments = 1;
  for (std::size_t p = 0; p < loads.size(); ++p) assignments *= domains;
  for (int code = 0; code < assignments; ++code) {
    std::vector<int> domain, room = shape.capacity;
    int rest = code;
    for (std::size_t p = 0; p < loads.size(); ++p, rest /= domains) {
      domain.push_back(rest % domains);
      room[domain.back()] -= 1;
    }
    if (*std::min_element(room.begin(), room.end()) < 0) continue;
    best = std::min(best,
                    longest(loads, scaling, optimal_counts_in(domain, shape.capacity, loads, scaling, shape.budget)));
  }
  return best;
}

TEST(Plan, IsWithinATieOfExhaustiveSearch) {
  std::mt19937 random(6);
  for (int round = 0; round < 800; ++round) {
    const int domains = 1 + static_cast<int>(random() % 3), cores = 4 + static_cast<int>(random() % 3);
    std::vector<ProcessLoad> loads;
    std::vector<Scaling> scaling;
    for (int d = 0; d < domains; ++d) {
      for (int left = cores; left > 0;) {
        const int threads = std::min(left, 2 + static_cast<int>(random() % 3));
        loads.push_back(process(threads, 1 + static_cast<double>(random() % 100), static_cast<double>(random() % 4)));
        scaling.push_back({random() % 3 ? 1.0 : static_cast<double>(random() % 11) / 10});
        if (random() % 6 == 0) loads.back().ceiling = threads + static_cast<int>(random() % 3);
        left -= threads;
      }
    }
    const NodeShape shape = fill(loads, std::vector<int>(domains, cores));
    const Plan made = plan(loads, scaling, shape);
    expect_possible(made, loads, shape);
    ASSERT_LE(made.busy_then, made.busy_now * (1 + 1e-12));
    ASSERT_LE(made.busy_then * (1 - 0.0051), exhaustive(loads, scaling, shape)) << "round " << round;
    ASSERT_NEAR(made.busy_then, longest(loads, scaling, made.threads), 1e-9);
  }
}

}  // namespace
}  // namespace steelyard::cores
