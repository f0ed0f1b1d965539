// SPDX-License-Identifier: BSD-3-Clause
#include "cli/change_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

using observe::LiveJob;
using testing::HasSubstr;

/// Two ranks with three cores each, two cores of no rank, and a second hardware thread of each core (10-17).
observe::LiveView some_job() {
  observe::LiveView job;
  job.command = "./app";
  job.host = "n1";
  job.nodes = 1;
  job.cores = 8;
  job.resizable = true;
  for (const int owner : {0, 0, 0, 1, 1, 1}) job.owner.push_back(LiveJob::kFirstProcess + owner);
  job.owner.insert(job.owner.end(), {LiveJob::kFree, LiveJob::kFree, LiveJob::kOutside, LiveJob::kOutside});
  job.owner.insert(job.owner.end(), 8, LiveJob::kSibling);
  job.processes.resize(2);
  job.processes[0].pid = 70;
  job.processes[1].rank = 1;
  return job;
}

std::string wanted(const observe::LiveView& job, const CoresForm& form) {
  const WantedCpus cpus = wanted_cpus(job, form);
  return cpus.refusal.empty() ? to_text(cpus.cpus) : cpus.refusal;
}

TEST(ChangeCores, TakesASetWithinTheCpusOfTheJob) {
  EXPECT_EQ(wanted(some_job(), {.set = "0-1,6"}), "0-1,6");
  EXPECT_EQ(wanted(some_job(), {.set = "0-1,10-11"}), "0-1") << "second hardware threads change nothing";
  EXPECT_EQ(wanted(some_job(), {.set = "0-9"}),
            "--set=0-9: CPUs 8-9 are not among the CPUs that the launcher gave the job on this node (0-7,10-17): leave "
            "them out");
  EXPECT_EQ(wanted(some_job(), {.set = "5"}),
            "--set=5: 1 core would be left for 2 ranks of this node: leave at least 2");
  EXPECT_THAT(wanted(some_job(), {.set = "12-17"}), HasSubstr("0 cores would be left"));
}

TEST(ChangeCores, ShrinksTheRankThatHasMost) {
  EXPECT_EQ(wanted(some_job(), {.shrink = 1}), "0-4");
  EXPECT_EQ(wanted(some_job(), {.shrink = 2}), "0-1,3-4");
  EXPECT_EQ(wanted(some_job(), {.shrink = 4}), "0,3");
  EXPECT_THAT(wanted(some_job(), {.shrink = 5}), HasSubstr("1 core would be left"));
  EXPECT_THAT(wanted(some_job(), {.shrink = 50}), HasSubstr("leave at least 2"));
  auto job = some_job();
  job.processes[1].fixed = true;
  EXPECT_EQ(wanted(job, {.shrink = 2}), "0,3-5") << "the other rank keeps its thread count";
  EXPECT_EQ(wanted(job, {.shrink = 3}),
            "--shrink=3: 3 cores would be left for 2 ranks of this node, and the thread counts of 1 of them must not "
            "change: leave at least 4");
}

TEST(ChangeCores, GrowsByWhatWasTakenFirst) {
  auto job = some_job();
  job.owner[2] = LiveJob::kWithdrawn;
  EXPECT_EQ(wanted(job, {.grow = 1}), "0-5");
  EXPECT_EQ(wanted(job, {.grow = 3}), "0-7");
  EXPECT_THAT(wanted(job, {.grow = 4}), HasSubstr("3 more cores on this node (CPUs 2,6-7)"));
  EXPECT_THAT(wanted(job, {.grow = 4}), HasSubstr("use --grow=3 at most"));
  for (int& owner : job.owner) {
    if (owner == LiveJob::kFree || owner == LiveJob::kWithdrawn) owner = LiveJob::kFirstProcess;
  }
  EXPECT_THAT(wanted(job, {.grow = 1}), HasSubstr("the job already has all cores that the launcher gave it"));
}

TEST(ChangeCores, SaysWhyAJobCannotChange) {
  auto job = some_job();
  job.resizable = false;
  job.immovable_reason = "switched off (--cores=off)";
  for (const CoresForm& form : {CoresForm{.set = "0-1"}, CoresForm{.shrink = 1}, CoresForm{.grow = 1}})
    EXPECT_EQ(wanted(job, form), "the cores of ./app (PID 70) cannot change: switched off (--cores=off)");
  EXPECT_THAT(cores_as_text(job), HasSubstr("cannot change: switched off"));
}

TEST(ChangeCores, ShowsWhoHasWhat) {
  auto job = some_job();
  job.owner[5] = LiveJob::kWithdrawn;
  const std::string text = cores_as_text(job);
  EXPECT_THAT(text, HasSubstr("./app (PID 70)\n  node 0 of 1 (n1), 2 ranks on 5 cores\n"));
  EXPECT_THAT(text, HasSubstr("0-2"));
  EXPECT_THAT(text, HasSubstr("  of no rank: CPUs 6-7\n  taken from the job: CPU 5\n"));
}

}  // namespace
}  // namespace steelyard::cli
