// SPDX-License-Identifier: BSD-3-Clause
#include "observe/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/sample_records.h"

namespace steelyard::observe {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

/// Four ranks of 4 threads for 10 s on two nodes of 8 cores. On the cores, they were for a half of the time.
RunRecord busy() {
  RunRecord record = sample_run();
  for (int i = 0; i < 4; ++i) {
    record.ranks.push_back(sample_rank(i, i / 2, 4, 9900, 10000));
    record.ranks.back().cpu = 20;
    record.ranks.back().run_delay = 0.2;
  }
  record.nodes = {sample_node(0, 2, 8), sample_node(1, 2, 8)};
  update_metrics(record);
  return record;
}

TEST(Contention, IsAWarningFromATenthOfTheTimeOn) {
  RunRecord record = busy();
  EXPECT_EQ(contention(record), "");
  record.ranks[2].run_delay = 0.99;
  EXPECT_EQ(contention(record), "");
  record.ranks[2].run_delay = 4.4;
  EXPECT_EQ(
      contention(record),
      "a thread of rank 2 was ready to run but had no core for 44 % of the time: other programs ran there; measure "
      "again without them");
}

TEST(Contention, IsNoCauseForAWarningWhereItIsNotKnownOrNotReal) {
  RunRecord record = busy();
  for (RankRecord& rank : record.ranks) rank.run_delay = -1;
  EXPECT_EQ(contention(record), "") << "a kernel without statistics";
  for (RankRecord& rank : record.ranks) rank.run_delay = 4.4;
  record.instrument = "emulated";
  EXPECT_EQ(contention(record), "");
  record.instrument = "real";
  record.wall = 0.5;
  EXPECT_EQ(contention(record), "") << "too short";
  EXPECT_EQ(contention(RunRecord()), "");
}

TEST(Contention, OfTheJobsOwnThreadsIsNoOtherProgram) {
  RunRecord record = busy();
  record.ranks[2].run_delay = 4.4;
  record.nodes[0].cores = 4;
  EXPECT_THAT(contention(record), HasSubstr("other programs ran there")) << "the rank is on the other node";
  record.nodes[1].cores = 4;
  EXPECT_THAT(contention(record), HasSubstr(": node 1 has 8 threads for 4 cores; start fewer ranks or threads"));
  record.nodes[1].nothing_moved = "more threads than cores: 2 ranks with 8 threads in all share 4 cores";
  record.nodes[1].oversubscribed = "threads";
  EXPECT_THAT(contention(record), HasSubstr(": node 1 has 8 threads for 4 cores")) << "another node has another reason";
  record.nodes[0].nothing_moved = record.nodes[1].nothing_moved;
  EXPECT_THAT(contention(record), EndsWith(" of the time: the line `moved` has the cause")) << "told once";
  for (RankRecord& rank : record.ranks) rank.threads_used = 2;
  EXPECT_THAT(contention(record), HasSubstr("the ranks of node 1 used all")) << "threads that were never used";
  for (RankRecord& rank : record.ranks) rank.threads_used = 0;
  record.nodes[1].cores = 8;
  for (RankRecord& rank : record.ranks) rank.cpu = 39;
  EXPECT_THAT(contention(record), HasSubstr(": the ranks of node 1 used all of its cores themselves; start fewer"));
}

TEST(Yielded, IsToldWithMoreThreadsThanCores) {
  RunRecord record = busy();
  record.options["wait"] = "sleep";
  EXPECT_EQ(yielded(record), "") << "each thread has a core";
  record.nodes[1].oversubscribed = "threads";
  EXPECT_EQ(yielded(record), "") << "its ranks are in MPI for 1 % of the time";
  record.ranks[0].totals.mpi = record.ranks[0].totals.wall / 2;
  EXPECT_EQ(yielded(record), "") << "a rank of the other node";
  record.ranks[2].totals.mpi = record.ranks[2].totals.wall / 2;
  EXPECT_EQ(yielded(record), "ranks that waited in MPI left their cores to threads that had none");
  record.options["blocktime"] = "0";
  EXPECT_EQ(yielded(record), "ranks that waited in MPI, and idle threads, left their cores to threads that had none");
  const RunRecord waited = record;
  for (RankRecord& rank : record.ranks) rank.totals.mpi = 0;
  EXPECT_EQ(yielded(record), "idle threads left their cores to threads that had none");
  record.options.erase("blocktime");
  EXPECT_EQ(yielded(record), "");
  record = waited;
  record.options["wait"] = "poll";
  EXPECT_EQ(yielded(record), "");
  record.options["wait"] = "sleep";
  record.options["observe"] = "on";
  EXPECT_EQ(yielded(record), "");
}

TEST(Contention, ByAQuotaIsNoOtherProgram) {
  RunRecord record = busy();
  record.ranks[2].run_delay = 4.4;
  record.ranks[3].throttled = 34.5;  // of 8 threads, 4.3 s each
  EXPECT_THAT(
      contention(record),
      HasSubstr(": the CPU quota of the container or batch job (cgroup) throttled node 1 for 34.5 core s; start"));
  record.ranks[3].throttled = 8;
  EXPECT_THAT(contention(record), HasSubstr("other programs ran there")) << "less than a quarter of the delay";
}

TEST(Contention, IsNotThatOthersUseALentCore) {
  RunRecord record = busy();
  record.ranks[2].run_delay = 4.4;
  record.ranks[2].totals.lent = std::int64_t{4} * 3'500'000'000;
  EXPECT_THAT(contention(record), HasSubstr("had no core for 44 % of the time")) << "no rank has used it";
  record.ranks[0].totals.borrowed = record.ranks[2].totals.lent;
  EXPECT_EQ(contention(record), "");
  record.ranks[2].totals.lent = std::int64_t{4} * 1'000'000'000;
  EXPECT_THAT(contention(record), HasSubstr("had no core for 34 % of the time"));
}

TEST(Contention, OfOwnersAndBorrowersOfCoresIsExpected) {
  RunRecord record = busy();
  record.ranks[2].run_delay = 2;
  EXPECT_NE(contention(record), "");
  record.ranks[0].totals.borrowed = 400'000'000;
  EXPECT_NE(contention(record), "") << "too few";
  record.ranks[0].totals.borrowed = 2'000'000'000;
  EXPECT_EQ(contention(record), "");
  record.ranks[2].run_delay = 4.4;
  EXPECT_THAT(contention(record), HasSubstr("44 %"));
}

}  // namespace
}  // namespace steelyard::observe
