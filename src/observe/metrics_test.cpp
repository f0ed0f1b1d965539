// SPDX-License-Identifier: BSD-3-Clause
#include "observe/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace steelyard::observe {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Computes for `busy` seconds in regions, perfectly parallel, then waits in MPI until `wall`.
RankLoad rank(int node, int threads, std::int64_t busy, std::int64_t wall) {
  RankLoad r{node, threads, {}};
  r.totals.wall = wall * kSecond;
  r.totals.region_wall = busy * kSecond;
  r.totals.region_useful = threads * busy * kSecond;
  r.totals.mpi = (wall - busy) * kSecond;
  r.totals.mpi_capacity = threads * r.totals.mpi;
  r.totals.capacity = threads * wall * kSecond;
  return r;
}

void expect_identities(const Metrics& m) {
  EXPECT_DOUBLE_EQ(m.parallel, m.mpi * m.openmp * m.gpu);
  EXPECT_DOUBLE_EQ(m.mpi, m.load_balance * m.communication);
  EXPECT_DOUBLE_EQ(m.load_balance, m.load_balance_in * m.load_balance_out);
  EXPECT_DOUBLE_EQ(m.openmp, m.omp_load_balance * m.omp_scheduling * m.omp_serialisation);
  for (const double e : {m.parallel, m.mpi, m.load_balance, m.load_balance_in, m.load_balance_out, m.communication,
                         m.openmp, m.omp_load_balance, m.omp_scheduling, m.omp_serialisation, m.gpu}) {
    EXPECT_GE(e, 0);
    EXPECT_LE(e, 1);
  }
}

TEST(Metrics, NothingIsPerfect) {
  for (const Metrics& m : {metrics_of({}, 10), metrics_of({rank(0, 4, 0, 0)}, 0), metrics_of({rank(0, 4, 2, 2)}, -1)}) {
    EXPECT_EQ(m.parallel, 1);
    expect_identities(m);
  }
}

TEST(Metrics, OneRankThatComputes) {
  const Metrics m = metrics_of({rank(0, 4, 10, 10)}, 10);
  EXPECT_EQ(m.parallel, 1);
  expect_identities(m);
}

TEST(Metrics, OneRankThatOnlyWaits) {
  const Metrics m = metrics_of({rank(0, 4, 0, 10)}, 10);
  EXPECT_EQ(m.parallel, 0);
  EXPECT_EQ(m.communication, 0);
  EXPECT_EQ(m.openmp, 1);
  expect_identities(m);
}

TEST(Metrics, ImbalanceInsideTheNode) {
  const Metrics m = metrics_of({rank(0, 6, 10, 10), rank(0, 6, 5, 10)}, 10);
  EXPECT_DOUBLE_EQ(m.load_balance_in, 0.75);
  EXPECT_DOUBLE_EQ(m.load_balance_out, 1);
  EXPECT_DOUBLE_EQ(m.communication, 1);
  EXPECT_DOUBLE_EQ(m.parallel, 0.75);
  expect_identities(m);
}

TEST(Metrics, ImbalanceAcrossNodes) {
  const Metrics m = metrics_of({rank(0, 6, 8, 10), rank(0, 6, 8, 10), rank(7, 6, 4, 10), rank(7, 6, 4, 10)}, 10);
  EXPECT_DOUBLE_EQ(m.load_balance_in, 1);
  EXPECT_DOUBLE_EQ(m.load_balance_out, 0.75);
  EXPECT_DOUBLE_EQ(m.communication, 0.8) << "even the busiest rank waits for 2 s";
  expect_identities(m);
}

TEST(Metrics, RanksCountByTheirCores) {
  const Metrics m = metrics_of({rank(0, 9, 10, 10), rank(0, 1, 5, 10)}, 10);
  EXPECT_DOUBLE_EQ(m.load_balance_in, 0.95);
}

TEST(Metrics, OpenMpSplit) {
  RankLoad r{0, 4, {}};
  r.totals.wall = 100;
  r.totals.serial = 20;
  r.totals.omp_serialisation = 60;
  r.totals.region_wall = 80;
  r.totals.omp_scheduling = 40;
  r.totals.omp_imbalance = 80;
  r.totals.region_useful = 200;
  const Metrics m = metrics_of({r}, 100e-9);
  EXPECT_DOUBLE_EQ(m.parallel, 0.55);
  EXPECT_DOUBLE_EQ(m.mpi, 1);
  EXPECT_DOUBLE_EQ(m.omp_scheduling, 0.9);
  EXPECT_DOUBLE_EQ(m.omp_load_balance, 280.0 / 360);
  EXPECT_DOUBLE_EQ(m.omp_serialisation, 220.0 / 280);
  expect_identities(m);
}

// A rank whose accelerator takes long is on the critical path, so its wait is no MPI loss of its own.
TEST(Metrics, WaitsForAnAccelerator) {
  RankLoad gpu = rank(0, 4, 4, 10);
  gpu.totals.gpu = 6 * kSecond;
  gpu.totals.gpu_capacity = 24 * kSecond;
  gpu.totals.mpi = gpu.totals.mpi_capacity = 0;
  const Metrics m = metrics_of({gpu, rank(0, 4, 5, 10)}, 10);
  EXPECT_DOUBLE_EQ(m.parallel, 36.0 / 80);
  EXPECT_DOUBLE_EQ(m.mpi, 60.0 / 80);
  EXPECT_DOUBLE_EQ(m.gpu, 36.0 / 60);
  EXPECT_DOUBLE_EQ(m.openmp, 1);
  expect_identities(m);
}

// Rank 0 borrows rank 1's six cores while that one waits: useful time beyond its own capacity, nothing lost overall.
TEST(Metrics, BorrowedCoresCountAsWork) {
  RankLoad borrower = rank(0, 6, 10, 10);
  borrower.totals.region_useful = 90 * kSecond;
  borrower.totals.borrowed = 30 * kSecond;
  const Metrics m = metrics_of({borrower, rank(0, 6, 5, 10)}, 10);
  EXPECT_DOUBLE_EQ(m.parallel, 1);
  expect_identities(m);
}

// Two ranks that take turns, each with all cores: no rank is busy for long, and no core is ever idle.
TEST(Metrics, TakingTurnsWithAllCoresIsPerfect) {
  RankLoad one = rank(0, 1, 5, 10);
  one.totals.region_useful = 10 * kSecond;
  const Metrics m = metrics_of({one, one}, 10);
  EXPECT_DOUBLE_EQ(m.parallel, 1);
  expect_identities(m);
}

// The primary threads of both ranks are in MPI, and other threads of theirs run regions: 10 s in one, 5 s in the other.
TEST(Metrics, RegionsOfOtherThreadsWhileThePrimaryIsInMpi) {
  RankLoad one = rank(0, 2, 0, 10), two = one;
  one.totals.region_useful = 20 * kSecond;
  one.totals.mpi_overlapped = 10 * kSecond;
  two.totals.region_useful = 10 * kSecond;
  two.totals.mpi_overlapped = 5 * kSecond;
  const Metrics m = metrics_of({one, two}, 10);
  EXPECT_DOUBLE_EQ(m.parallel, 0.75);
  EXPECT_DOUBLE_EQ(m.load_balance, 0.75);
  EXPECT_DOUBLE_EQ(m.communication, 1);
  expect_identities(m);
}

// Nested teams have four threads half of the time, where the rank owns two cores: there was the time of three.
TEST(Metrics, ThreadsBeyondTheOwnedCoresEnlargeWhatThereWas) {
  RankLoad one = rank(0, 2, 10, 10);
  one.totals.serial = 0;
  one.totals.region_useful = 30 * kSecond;
  one.totals.omp_serialisation = 0;
  one.totals.beyond_owned = 10 * kSecond;
  const Metrics m = metrics_of({one}, 10);
  EXPECT_DOUBLE_EQ(m.parallel, 1);
  expect_identities(m);
}

TEST(Metrics, ReadingsOfDifferentMomentsAreExtrapolated) {
  const RankLoad late = rank(0, 4, 8, 10), early = rank(0, 4, 2, 5), unread = rank(0, 4, 0, 0);
  const RunningMetrics running = running_metrics_of({late, unread, early});
  EXPECT_EQ(running.ranks, 2);
  EXPECT_DOUBLE_EQ(running.seconds, 10);
  const Metrics expected = metrics_of({late, rank(0, 4, 4, 10)}, 10);
  EXPECT_DOUBLE_EQ(running.metrics.parallel, expected.parallel);
  EXPECT_DOUBLE_EQ(running.metrics.load_balance, expected.load_balance);
  EXPECT_DOUBLE_EQ(running.metrics.communication, expected.communication);
  EXPECT_EQ(running_metrics_of({unread}).ranks, 0);
}

TEST(Metrics, IdentitiesAndExactParallelEfficiencyForAnyInput) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<RankLoad> ranks(1 + random() % 9);
    double useful = 0;
    double cores = 0;
    double beyond = 0;
    const double wall = 1e-9 * static_cast<double>(random() % 2000);
    for (RankLoad& r : ranks) {
      r.node = static_cast<int>(random() % 3);
      r.threads = static_cast<int>(random() % 9);  // 0 as well: counts as 1
      for (const TotalsField& field : kTotalsFields) {
        r.totals.*field.value = random() % 4 == 0 ? 0 : static_cast<std::int64_t>(random() % 3000);
      }
      r.totals.regions += 1;
      useful += static_cast<double>(r.totals.useful());
      cores += std::max(r.threads, 1);
      beyond += static_cast<double>(r.totals.beyond_owned);
    }
    const Metrics m = metrics_of(ranks, wall);
    expect_identities(m);
    const double there = wall > 0 ? cores * wall * 1e9 + beyond : 0;
    EXPECT_NEAR(m.parallel, there > 0 ? std::min(useful / there, 1.0) : 1.0, 1e-9);
    if (HasFailure()) return;
  }
}

TEST(Metrics, ThreadsThatAreNotOpenMpsAreNotMissing) {
  RankLoad late = rank(0, 1, 10, 10), early = rank(0, 1, 5, 10);
  for (RankLoad* r : {&late, &early}) {
    r->totals.serial = std::exchange(r->totals.region_wall, 0);
    r->totals.region_useful = 0;
    r->threads = 4;  // as steelyard_cores_init() says; its capacity is that of one
  }
  EXPECT_DOUBLE_EQ(metrics_of({late, early}, 10).mpi, 0.75);
}

}  // namespace
}  // namespace steelyard::observe
