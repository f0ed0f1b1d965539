// SPDX-License-Identifier: BSD-3-Clause
#include "observe/other_teams.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "observe/activity.h"

namespace steelyard::observe {
namespace {

std::int64_t parts_of(const Totals& t) {
  return t.region_useful + t.omp_imbalance + t.omp_scheduling + t.serial + t.omp_serialisation + t.mpi_capacity +
         t.gpu_capacity;
}

/// A team of two: the first computes from `begin` to `end`, the second half as long.
struct TwoThreads {
  TwoThreads(std::int64_t begin, std::int64_t end, bool nested)
      : team{.cells = cells, .threads = 2, .begin = begin, .nested = nested} {
    for (ThreadCell& cell : cells) cell.begin = begin;
    cells[0].open = end;
    cells[1].open = begin + (end - begin) / 2;
  }
  TeamParts parts(std::int64_t now) const {
    const TeamSplit split = split_team(cells, 2, team.begin, now);
    TeamParts all = team.nested ? TeamParts{} : split.first;
    return all += split.others;
  }
  ThreadCell cells[2];
  OtherTeam team;
};

TEST(OtherTeams, ComputeOnCoresThatArePaidForByAWaitInMpi) {
  Activity activity;
  activity.start(0, 2);
  activity.enter_mpi(100);
  TwoThreads region(200, 600, false);
  activity.others().begin(region.team);
  activity.others().end(region.team, 600, region.parts(600));
  activity.leave_mpi(1000);
  const Totals t = activity.totals_at(1000);
  EXPECT_EQ(t.mpi, 900);
  EXPECT_EQ(t.mpi_overlapped, 400);
  EXPECT_EQ(t.busy(), 500);
  EXPECT_EQ(t.mpi_capacity, 2 * 900 - 800);
  EXPECT_EQ(t.region_useful, 600);
  EXPECT_EQ(t.omp_imbalance, 200);
  EXPECT_EQ(t.regions, 1);
  EXPECT_EQ(t.beyond_owned, 0);
  EXPECT_EQ(t.capacity, 2000);
  EXPECT_EQ(t.capacity, parts_of(t));
}

TEST(OtherTeams, BesideAThreadThatComputesAloneOneCoreIsIdle) {
  Activity activity;
  activity.start(0, 2);
  TwoThreads region(100, 600, false);
  activity.others().begin(region.team);
  activity.others().end(region.team, 600, region.parts(600));
  const Totals t = activity.totals_at(1000);
  EXPECT_EQ(t.omp_serialisation, 0) << "1000 were idle, 1000 were used";
  EXPECT_EQ(t.beyond_owned, 0);
  EXPECT_EQ(t.capacity, 2000);
  EXPECT_EQ(t.capacity, parts_of(t));
}

TEST(OtherTeams, ARegionThatStillRunsIsTold) {
  Activity activity;
  activity.start(0, 4);
  TwoThreads region(100, 1000, false);
  region.cells[0].open = 0;
  region.cells[1].open = 0;
  activity.others().begin(region.team);
  const Totals then = activity.totals_at(300);
  EXPECT_EQ(then.region_useful, 2 * 200);
  EXPECT_EQ(then.capacity, parts_of(then));
  const Totals later = activity.totals_at(400);
  EXPECT_EQ(later.region_useful, 2 * 300);
  EXPECT_EQ(later.capacity, parts_of(later));
}

/// Of a process of so many cores whose only region lasts until 1000, and has a nested team from `begin` to `end`.
Totals with_nested_team(int cores, std::int64_t begin, std::int64_t end) {
  Activity activity;
  activity.start(0, cores);
  activity.region_begin(0, 1);
  Activity::thread_begin(*activity.cell(0), 1);
  TwoThreads region(begin, end, true);
  activity.others().begin(region.team);
  activity.others().end(region.team, end, region.parts(end));
  Activity::barrier_begin(*activity.cell(0), 1000);
  activity.region_end(1000, 1);
  return activity.totals_at(1000);
}

TEST(OtherTeams, OfANestedTeamTheFirstThreadIsCountedInTheOuterOne) {
  const Totals t = with_nested_team(2, 100, 500);
  EXPECT_EQ(t.region_useful, 999 + 200);
  EXPECT_EQ(t.omp_imbalance, 200);
  EXPECT_EQ(t.omp_serialisation, 1000 - 400);
  EXPECT_EQ(t.regions, 1);
  EXPECT_EQ(t.capacity, 2000);
  EXPECT_EQ(t.capacity, parts_of(t));
}

TEST(OtherTeams, MoreThreadsThanOwnedCoresEnlargeWhatThereWas) {
  const Totals t = with_nested_team(1, 1, 1000);
  EXPECT_EQ(t.beyond_owned, 999);
  EXPECT_EQ(t.capacity, 1999);
  EXPECT_EQ(t.capacity, parts_of(t));
}

TEST(OtherTeams, NoneCostNothingAndChangeNothing) {
  Activity activity;
  activity.start(0, 2);
  EXPECT_FALSE(activity.others().any());
  activity.others().add_tasks(3);
  EXPECT_TRUE(activity.others().any());
  EXPECT_EQ(activity.totals_at(10).omp_tasks, 3);
  EXPECT_EQ(activity.totals_at(10).capacity, 20);
}

TEST(OtherTeams, BeginAndEndInSeveralThreads) {
  OtherTeams teams;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&teams] {
      for (int i = 1; i <= 1000; ++i) {
        TwoThreads region(i, i + 10, false);
        teams.begin(region.team);
        Totals ignored;
        teams.add_to(ignored, i + 5);
        teams.end(region.team, i + 10, region.parts(i + 10));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Totals t;
  teams.add_to(t, 5000);
  EXPECT_EQ(t.regions, 4000);
  EXPECT_EQ(t.region_useful, 4000 * 15);
  EXPECT_EQ(teams.at(5000).thread_time, 4000 * 20);
}

}  // namespace
}  // namespace steelyard::observe
