// SPDX-License-Identifier: BSD-3-Clause
#include "observe/activity.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace steelyard::observe {
namespace {

ThreadCell& cell_of(Activity& activity, int thread) {
  ThreadCell* cell = activity.cell(thread);
  if (cell == nullptr) std::abort();
  return *cell;
}

void expect_identity(const Totals& t) {
  EXPECT_EQ(t.capacity, t.region_useful + t.omp_imbalance + t.omp_scheduling + t.serial + t.omp_serialisation +
                            t.mpi_capacity + t.gpu_capacity);
  EXPECT_EQ(t.wall, t.serial + t.mpi + t.region_wall + t.gpu);
}

TEST(Activity, CutsThePrimarysTime) {
  Activity activity;
  activity.start(100, 4);
  activity.enter_mpi(130);
  activity.leave_mpi(180);
  const Totals totals = activity.totals_at(200);
  EXPECT_EQ(totals.serial, 50);
  EXPECT_EQ(totals.mpi, 50);
  EXPECT_EQ(totals.mpi_calls, 1);
  EXPECT_EQ(totals.omp_serialisation, 150);
  EXPECT_EQ(totals.mpi_capacity, 200);
  expect_identity(totals);
}

TEST(Activity, BorrowedCoresSaveAtMostTheirWork) {
  Activity activity;
  activity.start(0, 2);
  activity.compared(100, 140, 3);
  EXPECT_EQ(activity.totals_at(0).borrowing_own, 140);
  activity.compared(100, 900, 3);  // on the two owned cores, something else ran, too
  EXPECT_EQ(activity.totals_at(0).borrowing_own, 140 + 150);
  EXPECT_EQ(activity.totals_at(0).borrowing_wall, 200);
}

TEST(Activity, APhaseIsTheSameWorkForAllRanksInTicks) {
  Activity chosen, asleep;
  for (Activity* each : {&chosen, &asleep}) {
    each->start(1000, 2);
    each->enter_mpi(1100);
    each->leave_mpi(1150);
  }
  // Both enter; the chosen rank is 30 late, and computes for 100.
  asleep.hold(1200);
  asleep.begin_wait(1200, true);
  EXPECT_EQ(asleep.tick_at(1210).serial, 160);
  asleep.end_wait(1330);
  asleep.release(1330, 100);
  chosen.hold(1230);
  chosen.region_begin(1230, 2);
  for (const int thread : {0, 1}) Activity::thread_begin(cell_of(chosen, thread), 1230);
  for (const int thread : {0, 1}) Activity::barrier_begin(cell_of(chosen, thread), 1330);
  chosen.region_end(1330, 2);
  chosen.release(1330, 100);
  const Tick worked = chosen.tick_at(1400), slept = asleep.tick_at(1400);
  EXPECT_EQ(worked.region_useful, 0);
  EXPECT_EQ(worked.region_wall, 0);
  EXPECT_EQ(worked.serial, 100 + 80 + 100 + 70);
  EXPECT_EQ(worked.mpi, 50);
  EXPECT_EQ(slept.region_useful, 0);
  EXPECT_EQ(slept.serial, 100 + 50 + 100 + 70);
  EXPECT_EQ(slept.mpi, 50 + 30) << "for the late rank";
  EXPECT_EQ(chosen.totals_at(1400).region_useful, 200) << "the record tells what was done";
  // Held without a phase: all of it. Corrections add up.
  chosen.hold(1400);
  chosen.release(1420, -1);
  EXPECT_EQ(chosen.tick_at(1420).serial, worked.serial + 20);
  EXPECT_EQ(chosen.tick_at(1420).mpi, worked.mpi);
}

TEST(Activity, WaitingInTheLastBarrierIsImbalanceEvenIfItsEndComesLate) {
  Activity activity;
  activity.start(1000, 2);
  activity.region_begin(1010, 2);
  Activity::thread_begin(cell_of(activity, 0), 1012);
  Activity::thread_begin(cell_of(activity, 1), 1014);
  Activity::barrier_begin(cell_of(activity, 1), 1040);
  Activity::barrier_begin(cell_of(activity, 0), 1100);
  activity.region_end(1105, 2);
  const Totals totals = activity.totals();
  EXPECT_EQ(totals.region_useful, 88 + 26);
  EXPECT_EQ(totals.omp_imbalance, 60);
  EXPECT_EQ(totals.omp_scheduling, 2 + 4 + 5 + 5);
  EXPECT_EQ(totals.region_wall, 95);
  expect_identity(activity.totals_at(1105));
}

TEST(Activity, BarriersInsideARegionAreWaits) {
  Activity activity;
  activity.start(1000, 2);
  activity.region_begin(1000, 2);
  Activity::thread_begin(cell_of(activity, 0), 1000);
  Activity::thread_begin(cell_of(activity, 1), 1000);
  Activity::barrier_begin(cell_of(activity, 0), 1010);
  Activity::barrier_begin(cell_of(activity, 1), 1050);
  Activity::barrier_end(cell_of(activity, 0), 1050);
  Activity::barrier_end(cell_of(activity, 1), 1050);
  Activity::barrier_begin(cell_of(activity, 0), 1080);
  Activity::barrier_begin(cell_of(activity, 1), 1080);
  activity.region_end(1080, 2);
  EXPECT_EQ(activity.totals().omp_imbalance, 40);
  EXPECT_EQ(activity.totals().region_useful, 120);
}

TEST(Activity, ARegionOfOneThreadEndsWithItsTask) {
  Activity activity;
  activity.start(1000, 1);
  activity.region_begin(1000, 1);
  Activity::thread_begin(cell_of(activity, 0), 1005);
  Activity::thread_end(cell_of(activity, 0), 1025);
  activity.region_end(1030, 1);
  EXPECT_EQ(activity.totals().region_useful, 20);
  EXPECT_EQ(activity.totals().omp_imbalance, 0);
  expect_identity(activity.totals());
}

TEST(Activity, AThreadThatNeverComesIsTheRuntimes) {
  Activity activity;
  activity.start(1000, 3);
  activity.region_begin(1000, 3);
  Activity::thread_begin(cell_of(activity, 0), 1000);
  Activity::barrier_begin(cell_of(activity, 0), 1050);
  activity.region_end(1050, 3);
  EXPECT_EQ(activity.totals().region_useful, 50);
  EXPECT_EQ(activity.totals().omp_scheduling, 100);
  expect_identity(activity.totals());
}

/// One core, and a region of two threads from 100 to 200, which are done then.
void region_on_one_core(Activity& activity, std::int64_t first_done, std::int64_t second_done, const TeamCores& cores) {
  activity.region_begin(100, 2);
  for (int thread = 0; thread < 2; ++thread) Activity::thread_begin(*activity.cell(thread), 100);
  Activity::barrier_begin(*activity.cell(0), first_done);
  Activity::barrier_begin(*activity.cell(1), second_done);
  activity.region_end(200, 2, cores);
}

TEST(Activity, ALargerTeamThanOwnedHasBorrowedWhatItIsTold) {
  Activity activity;
  activity.start(1000, 2);
  activity.region_begin(1000, 3);
  for (int i = 0; i < 3; ++i) Activity::thread_begin(cell_of(activity, i), 1000);
  for (int i = 0; i < 3; ++i) Activity::barrier_begin(cell_of(activity, i), 1010);
  activity.region_end(1010, 3, {.borrowed = 10});
  EXPECT_EQ(activity.totals().borrowed, 10);
  EXPECT_EQ(activity.totals().region_useful, 30);
}

TEST(Activity, AProgramsThreadCountBeyondItsCoresHasBorrowedNothing) {
  Activity activity;
  activity.start(0, 1);
  region_on_one_core(activity, 200, 200, {.without = 100});
  EXPECT_EQ(activity.totals().borrowed, 0);
  EXPECT_EQ(activity.totals().region_useful, 100);
  activity.unmeasured_region_begin(200);
  activity.unmeasured_region_end(300, 2, 1.0F, 0.0F, 1);
  EXPECT_EQ(activity.totals().borrowed, 0);
  EXPECT_EQ(activity.totals().region_useful, 200);
  EXPECT_EQ(activity.totals().capacity, 300);
  expect_identity(activity.totals());
}

TEST(Activity, CoresAreLentAndAcquiredByCalls) {
  Activity activity;
  activity.start(1000, 4);
  activity.hold_by_call(2, 0, 1000);
  EXPECT_EQ(activity.totals_at(1010).lent, 20) << "they are lent still";
  EXPECT_EQ(activity.totals_at(1010).lent_by_call, 20);
  activity.hold_by_call(1, 0, 1010);
  activity.hold_by_call(0, 270, 1100);
  activity.lent(5);
  const Totals totals = activity.totals_at(1200);
  EXPECT_EQ(totals.lent_by_call, 110);
  EXPECT_EQ(totals.lent, 115);
  EXPECT_EQ(totals.borrowed, 270);
}

TEST(Activity, ALargerTeamInAPhaseHasBorrowedNothing) {
  Activity activity;
  activity.start(1000, 2);
  activity.hold(1000);
  activity.region_begin(1000, 4);
  for (int i = 0; i < 4; ++i) Activity::thread_begin(cell_of(activity, i), 1000);
  for (int i = 0; i < 4; ++i) Activity::barrier_begin(cell_of(activity, i), 1010);
  activity.region_end(1010, 4);
  activity.release(1010, 10);
  EXPECT_EQ(activity.totals().borrowed, 0);
  EXPECT_EQ(activity.totals().region_useful, 40);
  expect_identity(activity.totals());
}

TEST(Activity, OwnedCoresWithoutAThreadAreSerialisation) {
  Activity activity;
  activity.start(1000, 3);
  activity.region_begin(1000, 1);
  Activity::thread_begin(cell_of(activity, 0), 1000);
  activity.region_end(1010, 1);
  EXPECT_EQ(activity.totals().omp_serialisation, 20);
  expect_identity(activity.totals());
}

TEST(Activity, GrowsToAnyTeam) {
  Activity activity;
  activity.start(1000, 1);
  EXPECT_EQ(activity.cell(5000), nullptr);
  activity.region_begin(1000, 6000);
  EXPECT_NE(activity.cell(5000), nullptr);
}

TEST(Activity, WaitsOutsideOfMpiAreWaits) {
  Activity activity;
  activity.start(1000, 4);
  activity.begin_wait(1100, false);
  activity.enter_mpi(1110);  // a message comes while it has nothing to do
  activity.leave_mpi(1120);
  activity.begin_wait(1130, true);  // within the one that is under way: nothing new
  EXPECT_EQ(activity.totals_at(1150).mpi, 50);
  activity.end_wait(1200);
  activity.end_wait(1250);
  const Totals& totals = activity.totals();
  EXPECT_EQ(totals.mpi, 100);
  EXPECT_EQ(totals.serial, 100);
  EXPECT_EQ(totals.mpi_calls, 1);
  EXPECT_EQ(totals.quiesced, 0);
  activity.begin_wait(1300, true);
  activity.end_wait(1500);
  EXPECT_EQ(totals.quiesced, 200);
  EXPECT_EQ(totals.mpi, 300);
  expect_identity(activity.totals_at(1600));
}

TEST(Activity, ThreadsThatShareACoreForAWhileAreNotCountedTwice) {
  Activity activity;
  activity.start(0, 1);
  region_on_one_core(activity, 200, 200, {.without = 60, .borrowed = 40, .came_late = 40});  // on one core up to 160
  const Totals& totals = activity.totals();
  EXPECT_EQ(totals.region_useful, 140);
  EXPECT_EQ(totals.borrowed, 40);
  EXPECT_EQ(totals.came_late, 40);
  EXPECT_EQ(totals.capacity, 100 + 140);
  expect_identity(totals);
}

TEST(Activity, AThreadWithoutACoreThatWaitedTookNothingFromTheOther) {
  Activity activity;
  activity.start(100, 1);
  region_on_one_core(activity, 200, 100, {.without = 100});
  EXPECT_EQ(activity.totals().region_useful, 100);
  EXPECT_EQ(activity.totals().omp_imbalance, 0);
  EXPECT_EQ(activity.totals().capacity, 100);
  EXPECT_EQ(activity.totals().borrowed, 0);
  expect_identity(activity.totals());
}

TEST(Activity, AWaitEndsWithARegionInIt) {
  Activity activity;
  activity.start(0, 2);
  activity.begin_wait(10, false);
  activity.region_begin(20, 1);
  Activity::thread_begin(cell_of(activity, 0), 20);
  activity.region_end(50, 1);
  activity.end_wait(70);
  EXPECT_EQ(activity.totals().mpi, 10);
  EXPECT_EQ(activity.totals_at(70).serial, 30);
  expect_identity(activity.totals_at(100));
}

TEST(Activity, AnUnmeasuredRegionIsDividedByTheSharesOfOthers) {
  Activity activity;
  activity.start(0, 3);
  activity.unmeasured_region_begin(100);
  activity.unmeasured_region_end(300, 2, 0.75F, 0.125F);
  const Totals& totals = activity.totals();
  EXPECT_EQ(totals.serial, 100);
  EXPECT_EQ(totals.region_wall, 200);
  EXPECT_EQ(totals.region_useful, 300);
  EXPECT_EQ(totals.omp_imbalance, 50);
  EXPECT_EQ(totals.omp_scheduling, 50);
  EXPECT_EQ(totals.omp_serialisation, 200 + 200);  // two cores beside the primary thread, one beside the team
  EXPECT_EQ(totals.regions, 1);
  EXPECT_EQ(activity.last_region_wall(), 200);
  expect_identity(totals);
  activity.unmeasured_region_begin(400);
  activity.unmeasured_region_end(500, 2, 1.0F, 0.5F);  // more than there was
  EXPECT_EQ(activity.totals().omp_imbalance, 50);
  expect_identity(activity.totals());
}

TEST(Activity, AnInactiveRegionIsAPartOfComputingAlone) {
  Activity activity;
  activity.start(0, 2);
  activity.inactive_region(30, 20);
  activity.inactive_region(30, 20);
  EXPECT_EQ(activity.totals_at(100).region_wall, 60) << "also before the stretch has ended";
  const Tick tick = activity.tick_at(100);
  EXPECT_EQ(tick.region_wall, 60);
  EXPECT_EQ(tick.region_useful, 40);
  EXPECT_EQ(tick.serial, 40);
  activity.enter_mpi(100);
  activity.inactive_region(30, 20);  // in a callback of MPI
  activity.leave_mpi(150);
  const Totals& totals = activity.totals();
  EXPECT_EQ(totals.serial, 40);
  EXPECT_EQ(totals.mpi, 50);
  EXPECT_EQ(totals.region_wall, 60);
  EXPECT_EQ(totals.region_useful, 40);
  EXPECT_EQ(totals.omp_scheduling, 20);
  EXPECT_EQ(totals.omp_serialisation, 100);
  EXPECT_EQ(totals.regions, 3);
  expect_identity(totals);
}

TEST(Activity, AnInactiveRegionWithAnMpiCallTakesNoMoreThanThereWas) {
  Activity activity;
  activity.start(0, 1);
  activity.enter_mpi(20);
  activity.leave_mpi(60);
  activity.inactive_region(70, 65);
  activity.enter_mpi(90);
  EXPECT_EQ(activity.totals().serial, 20);
  EXPECT_EQ(activity.totals().region_wall, 30);
  EXPECT_EQ(activity.totals().region_useful, 30);
  expect_identity(activity.totals());
}

TEST(Activity, TheIdentityHoldsForAnySequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Activity activity;
    std::int64_t now = 1000;
    activity.start(now, 1 + static_cast<int>(random() % 6));
    for (int event = 0; event < 100; ++event) {
      now += static_cast<std::int64_t>(random() % 50);
      if (random() % 2 == 0) {
        activity.enter_mpi(now);
        now += static_cast<std::int64_t>(random() % 50);
        activity.leave_mpi(now);
        continue;
      }
      const int team = 1 + static_cast<int>(random() % 6);
      if (random() % 4 == 0) {
        activity.unmeasured_region_begin(now);
        activity.unmeasured_region_end(now += 60, team, 0.7F, 0.2F);
        continue;
      }
      if (random() % 4 == 0) activity.inactive_region(static_cast<std::int64_t>(random() % 30), 3);
      activity.region_begin(now, team);
      const std::int64_t end = now + 60;
      for (int i = 0; i < team; ++i) {
        if (random() % 20 == 0) continue;
        Activity::thread_begin(cell_of(activity, i), now + static_cast<std::int64_t>(random() % 10));
        if (random() % 2 == 0) {
          Activity::barrier_begin(cell_of(activity, i), now + 10 + static_cast<std::int64_t>(random() % 10));
          Activity::barrier_end(cell_of(activity, i), now + 20 + static_cast<std::int64_t>(random() % 10));
        }
        Activity::barrier_begin(cell_of(activity, i), now + 30 + static_cast<std::int64_t>(random() % 30));
      }
      now = end;
      activity.region_end(now, team);
    }
    expect_identity(activity.totals_at(now + 5));
    const Totals totals = activity.totals();
    ASSERT_GE(totals.omp_imbalance, 0);
    ASSERT_GE(totals.omp_scheduling, 0);
    ASSERT_GE(totals.serial, 0);
  }
}

TEST(Activity, WaitsForAnAcceleratorAreNeitherComputingNorMpi) {
  Activity activity;
  activity.start(0, 4);
  EXPECT_TRUE(activity.enter_gpu(100));
  EXPECT_FALSE(activity.enter_gpu(150)) << "a call within a call";
  activity.enter_mpi(200);  // by the accelerator's library
  activity.leave_mpi(300);
  EXPECT_EQ(activity.tick_at(500).serial, 500) << "more threads would not shorten it";
  activity.leave_gpu(600);
  activity.enter_mpi(700);
  EXPECT_FALSE(activity.enter_gpu(750)) << "by the MPI library";
  activity.leave_gpu(760);
  activity.leave_mpi(800);
  const Totals totals = activity.totals_at(1000);
  EXPECT_EQ(totals.gpu, 500);
  EXPECT_EQ(totals.gpu_capacity, 2000);
  EXPECT_EQ(totals.gpu_waits, 1);
  EXPECT_EQ(totals.mpi, 100);
  EXPECT_EQ(totals.mpi_calls, 1);
  EXPECT_EQ(totals.serial, 400);
  EXPECT_EQ(totals.busy(), 900) << "others may be waiting for it";
  EXPECT_EQ(activity.tick_at(1000).serial, 900);
  expect_identity(totals);
}

TEST(Activity, ThreadsThatWaitForAnAcceleratorInARegionDoNotCompute) {
  Activity activity;
  activity.start(0, 2);
  activity.region_begin(1000, 2);
  Activity::thread_begin(*activity.cell(0), 1000);
  Activity::thread_begin(*activity.cell(1), 1000);
  Activity::gpu_waited(*activity.cell(1), 300);
  Activity::gpu_waited(*activity.cell(1), 100);
  Activity::barrier_begin(*activity.cell(0), 1500);
  Activity::barrier_begin(*activity.cell(1), 1900);
  activity.region_end(2000, 2);
  const Totals& totals = activity.totals();
  EXPECT_EQ(totals.region_useful, 500 + 900 - 400);
  EXPECT_EQ(totals.gpu_capacity, 400);
  EXPECT_EQ(totals.gpu, 200) << "the mean of the team";
  EXPECT_EQ(totals.region_wall, 800);
  EXPECT_EQ(totals.gpu_waits, 2);
  EXPECT_TRUE(activity.last_team_time().shares_vary);
  EXPECT_EQ(activity.tick_at(2000).serial, 1200);
  expect_identity(totals);
}

TEST(Activity, AThreadThatForksATeamDoesNotCompute) {
  Activity activity;
  activity.start(0, 1);
  activity.region_begin(1000, 1);
  Activity::thread_begin(cell_of(activity, 0), 1000);
  cell_of(activity, 0).forked.store(250);
  EXPECT_EQ(activity.busy(0, 1700), 450);
  cell_of(activity, 0).forked.store(900);
  EXPECT_EQ(activity.busy(0, 1700), 0) << "clocks differ";
}

TEST(Activity, AThreadInMpiThatItsTeamWaitsForIsTimeInMpi) {
  Activity activity;
  activity.start(0, 2);
  activity.region_begin(1000, 2);
  for (const int thread : {0, 1}) Activity::thread_begin(cell_of(activity, thread), 1000);
  Activity::barrier_begin(cell_of(activity, 1), 1200);  // thread 0 computes until 1300, and is in MPI until 1700
  Activity::was_in_mpi(cell_of(activity, 0), 400);
  Activity::barrier_end(cell_of(activity, 1), 1700);
  EXPECT_EQ(activity.busy(0, 1700), 300);
  for (const int thread : {0, 1}) Activity::barrier_begin(cell_of(activity, thread), 1900);
  activity.region_end(2000, 2);
  const Totals& totals = activity.totals();
  EXPECT_EQ(totals.region_useful, 500 + 400);
  EXPECT_EQ(totals.mpi, 400);
  EXPECT_EQ(totals.mpi_capacity, 800);
  EXPECT_EQ(totals.omp_imbalance, 100) << "until thread 0 called MPI";
  EXPECT_EQ(totals.region_wall, 600);
  EXPECT_EQ(activity.tick_at(2000).mpi, 400);
  EXPECT_TRUE(activity.last_team_time().shares_vary);
  expect_identity(totals);
}

TEST(Activity, ARegionThatComputesWhileAThreadIsInMpiIsNotInMpi) {
  Activity activity;
  activity.start(0, 2);
  activity.region_begin(1000, 2);
  for (const int thread : {0, 1}) Activity::thread_begin(cell_of(activity, thread), 1000);
  Activity::was_in_mpi(cell_of(activity, 0), 700);
  for (const int thread : {0, 1}) Activity::barrier_begin(cell_of(activity, thread), 2000);
  activity.region_end(2000, 2);
  const Totals& totals = activity.totals();
  EXPECT_EQ(totals.mpi, 0);
  EXPECT_EQ(totals.mpi_capacity, 700);
  EXPECT_EQ(totals.region_useful, 300 + 1000);
  EXPECT_EQ(totals.region_wall, 1000);
  expect_identity(totals);
}

}  // namespace
}  // namespace steelyard::observe
