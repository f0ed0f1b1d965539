// SPDX-License-Identifier: BSD-3-Clause
#include "observe/summary.h"
#include "base/sanitized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "observe/sample_records.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text(const RunRecord& record) {
  std::string all = "\n";
  for (const std::string& line : summary(record, "steelyard-run.json")) all += line + "\n";
  return all;
}

RunRecord balanced() {
  RunRecord record = sample_run();
  for (int i = 0; i < 4; ++i) record.ranks.push_back(sample_rank(i, 0, 4, 9900 + 10 * i, 10000));
  record.nodes = {sample_node(0, 4, 16)};
  record.nodes[0].nothing_moved = "the loads are equal within noise (largest rank 1.3 % above the mean)";
  update_metrics(record);
  return record;
}

RunRecord one_rank() {
  RunRecord record = sample_run();
  record.ranks = {sample_rank(0, 0, 16, 9990, 10000)};
  record.nodes = {sample_node(0, 1, 16)};
  update_metrics(record);
  return record;
}

RunRecord nothing_seen() {
  RunRecord record = balanced();
  record.openmp.clear();
  for (RankRecord& rank : record.ranks) {
    rank.totals = Totals{.wall = rank.totals.wall, .serial = rank.totals.wall, .capacity = rank.totals.wall};
    rank.openmp = false;
  }
  return record;
}

RunRecord no_regions() {
  RunRecord record = balanced();
  for (RankRecord& rank : record.ranks) {
    Totals& t = rank.totals;
    t.regions = t.region_wall = t.region_useful = t.omp_imbalance = t.omp_scheduling = 0;
    t.serial = t.wall / 4 * (rank.rank + 1);
    t.mpi = t.wall - t.serial;
    t.omp_serialisation = 3 * t.serial;
    t.mpi_capacity = 4 * t.mpi;
    rank.openmp = false;
  }
  record.nodes[0].nothing_moved = "no OpenMP regions: there are no threads to move";
  update_metrics(record);
  return record;
}

RunRecord with_gpu() {
  RunRecord record = balanced();
  for (const int rank : {1, 2}) {
    Totals& t = record.ranks[static_cast<std::size_t>(rank)].totals;
    t.gpu = t.wall / 2;
    t.gpu_capacity = 2 * t.wall;
    t.gpu_waits = 10;
    t.region_wall -= t.gpu;
    t.region_useful /= 2;
    t.omp_imbalance = t.omp_scheduling = t.omp_serialisation = 0;
  }
  update_metrics(record);
  return record;
}

RunRecord undone() {
  RunRecord record = rich_run();
  record.instrument = "real";
  record.nodes[0].emulated = false;
  for (RankRecord& rank : record.ranks) rank.threads_at_end = 6;
  record.decisions[1] = sample_move(1.2, 0, Outcome::undone);
  record.decisions[1].forecast_gain = 0.12;
  record.decisions[1].measured_gain = -0.021;
  record.decisions[1].measured_low = record.decisions[1].measured_gain - 0.005;
  record.decisions[1].measured_high = record.decisions[1].measured_gain + 0.005;
  record.nodes[0].phase_after = 0.0611;
  record.nodes[0].phase_after_low = record.nodes[0].phase_after - 0.0003;
  record.nodes[0].phase_after_high = record.nodes[0].phase_after + 0.0003;
  return record;
}

RunRecord several_nodes() {
  RunRecord record = sample_run();
  for (int i = 0; i < 16; ++i) {
    record.ranks.push_back(sample_rank(i, i / 4, 12, i % 4 == 0 ? 20000 - 500 * (i / 4) : 14000, 20100));
    if (i % 4 != 0) record.ranks.back().waited_for = {{i / 4 * 4, 5.0}, {0, 0.6}};
  }
  for (int n = 0; n < 4; ++n) {
    NodeRecord node = sample_node(n, 4, 48);
    if (n < 2) {
      node.phase_after = 0.05 + 0.006 * n;
      node.phase_after_low = node.phase_after - 0.0004;
      node.phase_after_high = node.phase_after + 0.0004;
      record.ranks[4 * n].threads_at_end = 18;
      for (int i = 1; i < 4; ++i) record.ranks[4 * n + i].threads_at_end = 10;
      record.decisions.push_back(sample_move(2.5 + n, n, Outcome::confirmed));
      record.decisions.back().forecast_gain = 0.19 - 0.08 * n;
    } else {
      node.nothing_moved =
          n == 2 ? "forecast gain 1.1 % is too small: it must exceed the measurement uncertainty of 1.6 % by 2.0 %"
                 : "its ranks fix their threads";
    }
    record.nodes.push_back(node);
  }
  record.decisions.push_back(sample_move(7.25, 0, Outcome::undone));
  record.decisions.back().forecast_gain = 0.03;
  record.decisions.back().measured_gain = 0.001;
  record.decisions.back().measured_low = record.decisions.back().measured_gain - 0.004;
  record.decisions.back().measured_high = record.decisions.back().measured_gain + 0.004;
  update_metrics(record);
  return record;
}

RunRecord many_ranks() {
  RunRecord record = sample_run();
  std::vector<DecisionRecord> moves;
  for (int n = 0; n < 512; ++n) {
    for (int i = 0; i < 8; ++i) {
      const int number = 8 * n + i;
      record.ranks.push_back(sample_rank(number, n, 6, 59000 - 300 * (number * 37 % 100), 60000));
      record.ranks.back().waited_for = {{(number * 7919) % 4096, 9.0}};
      record.ranks.back().threads_at_end = 5 + i % 3;
      record.ranks.back().fixed_reason = number % 5 == 0 ? "the program sets num_threads(6)" : "";
    }
    NodeRecord node = sample_node(n, 8, 48);
    node.host = "a-rather-long-host-name-" + std::to_string(n) + ".cluster.example.org";
    if (n % 3 != 0) {
      node.phase_after = 0.0612 - 0.0000225 * n;
      node.phase_after_low = node.phase_after - 0.0002;
      node.phase_after_high = node.phase_after + 0.0002;
      for (int i = 0; i < 3; ++i) record.decisions.push_back(sample_move(1 + 0.01 * n + 5 * i, n, Outcome::confirmed));
    } else {
      node.nothing_moved =
          "balanced as far as whole cores allow: the slowest rank computes 0.06 s of a step of 0.0612 s on node " +
          std::to_string(n);
    }
    record.nodes.push_back(node);
  }
  for (int i = 0; i < 9; ++i) {
    record.remarks.push_back("remark " + std::to_string(i) +
                             " with a good many words in it, so that it takes more than one line of "
                             "the summary, and with figures such as 12 % and 13 %, and it goes on and on for a while");
  }
  record.ranks[5].totals.lent = 7'654'321 * kMillisecond;
  update_metrics(record);
  return record;
}

TEST(Summary, EmptyRecord) {
  EXPECT_EQ(text(RunRecord{}), R"(
steelyard: 0 ranks, 0 s
  measured  nothing: no OpenMP region and no blocking MPI call was seen in the 0 s between MPI_Init
            and MPI_Finalize
  record    steelyard-run.json
)");
}

TEST(Summary, MovedAndHelped) {
  EXPECT_EQ(text(rich_run()), R"(
steelyard: 8 ranks on 1 node, 48 cores (emulated), 12.3 s
  parallel efficiency 76 % = MPI 78 % x OpenMP 97 %
    MPI     load balance 79 %, communication 99 %; a lent core counts as busy while it is used
    OpenMP  load balance 98 %, scheduling 99 %, serialisation 100 %
  waiting   ranks 3-7 spent 28 % to 32 % of their time in MPI, 84 % of it waiting for rank 0
  moved     cores, once, at 1.20 s: threads 6 each -> 9,7,7,6,6,5,4,4 (forecast: 22.1 % less time)
  gain      21.9 % less time (95 % CI 21.5 to 22.3 %): a step takes 47.8 ms instead of 61.2 ms
  lent      3.10 core s by ranks that waited in MPI; 2.40 core s of that were used by other ranks
  moved     iterations: 6.0 % of those of 1 loop; threads were idle 2.0 % of their time in it
  region    solve: 50 % of the run, 40 executions; parallel efficiency 75 % = MPI 78 % x OpenMP 97 %
  region    output: 1 % of the run, 1 execution; parallel efficiency 87 % = MPI 90 % x OpenMP 97 %
  regions   1 nested region: 8 thread s in 320 executions, load balance 90 %
  note      rank 6: the program sets num_threads(4): its thread count was not changed
  record    steelyard-run.json
)");
}

TEST(Summary, WaitsForGpus) {
  const std::string said = text(with_gpu());
  EXPECT_NE(said.find("\n  GPU       ranks 1-2 waited for a GPU for up to 50 % of their time\n"), std::string::npos)
      << said;
  EXPECT_NE(said.find(" x GPU 7"), std::string::npos) << said;
}

TEST(Summary, NothingMoved) {
  EXPECT_EQ(text(balanced()), R"(
steelyard: 4 ranks on 1 node, 16 cores, 10.0 s
  parallel efficiency 96 % = MPI 99 % x OpenMP 97 %
    MPI     load balance 100 %, communication 99 %
    OpenMP  load balance 98 %, scheduling 99 %, serialisation 100 %
  waiting   no rank spent more than 5 % of its time in MPI
  moved     nothing: the loads are equal within noise (largest rank 1.3 % above the mean)
  record    steelyard-run.json
)");
}

TEST(Summary, OneRank) {
  EXPECT_EQ(text(one_rank()), R"(
steelyard: 1 rank on 1 node, 16 cores, 10.0 s
  parallel efficiency 97 % = MPI 100 % x OpenMP 97 %
    OpenMP  load balance 98 %, scheduling 99 %, serialisation 100 %
  moved     nothing: one rank on the node, so no other rank to exchange cores with; start more
            ranks: mpirun -n N steelyard run PROGRAM
  record    steelyard-run.json
)");
}

TEST(Summary, NothingWasSeen) {
  EXPECT_EQ(text(nothing_seen()), R"(
steelyard: 4 ranks on 1 node, 16 cores, 10.0 s
  ERROR     nothing was measured: no OpenMP region and no blocking MPI call was seen. Causes: the
            program does not use them after MPI_Init; it links MPI or OpenMP statically; its OpenMP
            runtime is not GNU's and has no tools interface (OMPT). `steelyard doctor PROGRAM` says
            which it is.
  record    steelyard-run.json
)");
}

TEST(Summary, RanksThatWaitForEachOther) {
  RunRecord record = no_regions();
  record.ranks[0].waited_for = {{1, 7.4}};
  record.ranks[1].waited_for = {{0, 4.9}};
  EXPECT_THAT(text(record), HasSubstr(" of their time in MPI, 98 % of it waiting for each other\n"));
  record.ranks[1].waited_for = {{2, 4.9}};
  EXPECT_THAT(text(record), HasSubstr(" of their time in MPI, 98 % of it waiting for ranks 1-2\n"));
}

TEST(Summary, NoRegions) {
  EXPECT_EQ(text(no_regions()), R"(
steelyard: 4 ranks on 1 node, 16 cores, 10.0 s
  WARNING   no OpenMP region was seen, so there are no threads to move: LLVM OpenMP is loaded, but
            neither the program nor its libraries began a parallel region
  MPI efficiency 62 %; without OpenMP regions, no other is known
    MPI     load balance 62 %, communication 100 %
  waiting   ranks 0-1 spent 50 % to 75 % of their time in MPI
  moved     nothing: no OpenMP regions: there are no threads to move
  record    steelyard-run.json
)");
}

TEST(Summary, RuntimeOfALibraryWithOneThread) {
  RunRecord record = no_regions();
  record.openmp = "GNU OpenMP";
  for (RankRecord& rank : record.ranks) rank.threads_at_start = 1;
  EXPECT_THAT(text(record), HasSubstr(R"(
  note      no OpenMP region was seen, so there are no threads to move: GNU OpenMP is loaded, but
            neither the program nor its libraries began a parallel region (with one thread, some
            libraries begin none)
)"));
}

TEST(Summary, Undone) {
  EXPECT_EQ(text(undone()), R"(
steelyard: 8 ranks on 1 node, 48 cores, 12.3 s
  parallel efficiency 76 % = MPI 78 % x OpenMP 97 %
    MPI     load balance 79 %, communication 99 %; a lent core counts as busy while it is used
    OpenMP  load balance 98 %, scheduling 99 %, serialisation 100 %
  waiting   ranks 3-7 spent 28 % to 32 % of their time in MPI, 84 % of it waiting for rank 0
  moved     cores, once, at 1.20 s: threads are back at 6 each
  reverted  the move gained -2.1 % (95 % CI -2.6 to -1.6 %); 12.0 % was forecast
  lent      3.10 core s by ranks that waited in MPI; 2.40 core s of that were used by other ranks
  moved     iterations: 6.0 % of those of 1 loop; threads were idle 2.0 % of their time in it
  region    solve: 50 % of the run, 40 executions; parallel efficiency 75 % = MPI 78 % x OpenMP 97 %
  region    output: 1 % of the run, 1 execution; parallel efficiency 87 % = MPI 90 % x OpenMP 97 %
  regions   1 nested region: 8 thread s in 320 executions, load balance 90 %
  note      rank 6: the program sets num_threads(4): its thread count was not changed
  record    steelyard-run.json
)");
}

TEST(Summary, NoForecastForThreadsThatAreBack) {
  RunRecord record = rich_run();
  for (RankRecord& rank : record.ranks) rank.threads_at_end = rank.threads_at_start;
  EXPECT_THAT(text(record), HasSubstr("moved     cores, once, at 1.20 s: threads are back at 6 each\n"));
}

TEST(Summary, SeveralNodes) {
  EXPECT_EQ(text(several_nodes()), R"(
steelyard: 16 ranks on 4 nodes, 192 cores, 20.1 s
  parallel efficiency 74 % = MPI 76 % x OpenMP 97 %
    MPI     load balance in nodes 78 %, across nodes 99 %, communication 100 %
    OpenMP  load balance 98 %, scheduling 99 %, serialisation 100 %
  waiting   ranks 1-3, 5-7, 9-11, 13-15 spent 30 % of their time in MPI, 69 % of it waiting for
            ranks 0, 8, 12
  moved     cores, 3 times, from 2.50 s to 7.25 s on 2 of 4 nodes; most on node 0: threads 12 each
            -> 18,10,10,10 (forecast: 19.0 % less time)
  reverted  1 of 3 moves; the last of them gained 0.1 % (95 % CI -0.3 to 0.5 %); 3.0 % was forecast
  gain      18.3 % less time (95 % CI 17.6 to 19.0 %) a step on node 0, the largest gain; 8.5 % on
            node 1, the smallest
  moved     nothing on 2 nodes, such as node 2: forecast gain 1.1 % is too small: it must exceed the
            measurement uncertainty of 1.6 % by 2.0 %
  record    steelyard-run.json
)");
}

TEST(Summary, FourThousandRanks) {
  EXPECT_EQ(text(many_ranks()), R"(
steelyard: 4096 ranks on 512 nodes, 24576 cores, 60.0 s
  parallel efficiency 71 % = MPI 74 % x OpenMP 97 %
    MPI     load balance in nodes 79 %, across nodes 95 %, communication 98 %
    OpenMP  load balance 98 %, scheduling 99 %, serialisation 100 %
  waiting   ranks 2, 4-5, 7-8, 10, 13, 15-16, ... (2129 in all) spent 26 % to 51 % of their time in
            MPI, waiting for many different ranks
  moved     cores, 1023 times, from 1.01 s to 16.1 s on 341 of 512 nodes; most on node 1: threads 6
            each -> 5,6,7,5,6,7,5,6 (forecast: at most 22.1 % less time each)
  gain      18.8 % less time (95 % CI 18.4 to 19.2 %) a step on node 511, the largest gain; 0.0 % on
            node 1, the smallest
  moved     nothing on 171 nodes, such as node 0: balanced as far as whole cores allow: the slowest
            rank computes 0.06 s of a step of 0.0612 s on node 0
  lent      7654 core s by ranks that waited in MPI; no rank used them
  note      remark 0 with a good many words in it, so that it takes more than one line of the
            summary, and with figures such as 12 % and 13 %, and it goes on and on for a while
  note      remark 1 with a good many words in it, so that it takes more than one line of the
            summary, and with figures such as 12 % and 13 %, and it goes on and on for a while
  note      8 more remarks: see `steelyard report --full`
  record    steelyard-run.json
)");
}

TEST(Summary, WithoutAPathThereIsNoLineForIt) {
  const std::vector<std::string> lines = summary(rich_run());
  EXPECT_THAT(lines.back(), Not(HasSubstr("record")));
}

TEST(Summary, AllRemarksWhereThereIsRoom) {
  RunRecord record = balanced();
  record.remarks = {"first", "second", "third"};
  EXPECT_THAT(text(record), HasSubstr("note      first\n  note      second\n  note      third\n"));
}

TEST(Summary, NotesAreWholeOrNotThere) {
  RunRecord record = balanced();
  const std::string advice = "; say --so-and-so.";
  record.remarks = {std::string("a long reason") + std::string(400, '.').replace(50, 1, " ") + advice};
  for (std::size_t i = 60; i < 400; i += 60) record.remarks[0][i] = ' ';
  EXPECT_THAT(text(record), HasSubstr("say --so-and-so."));
  EXPECT_THAT(text(record), Not(HasSubstr(" ...\n")));
  record.remarks.resize(3, record.remarks[0]);
  EXPECT_THAT(text(record), HasSubstr("note      2 more remarks: see `steelyard report --full`\n"));
  EXPECT_THAT(text(record), Not(HasSubstr(" ...\n")));
  record.nodes[0].nothing_moved = record.remarks[0].substr(0, 250) + advice;
  EXPECT_THAT(text(record), Not(HasSubstr(" ...\n")));
}

TEST(Summary, AProgramWithoutOpenMpIsNotWarnedOfIt) {
  RunRecord record = no_regions();
  record.openmp.clear();
  EXPECT_THAT(text(record), Not(HasSubstr("WARNING")));
  EXPECT_THAT(
      text(record),
      HasSubstr("note      no OpenMP runtime, so no thread counts can change: see `steelyard doctor PROGRAM`\n"));
  record.tasks.emplace_back();
  EXPECT_THAT(text(record), Not(HasSubstr("no OpenMP runtime")));
  record.tasks.clear();
  record.ranks[0].fixed_reason = "the program says itself which cores it uses";
  EXPECT_THAT(text(record), Not(HasSubstr("no OpenMP runtime")));
  record.ranks[0].fixed_reason.clear();
  for (NodeRecord& node : record.nodes) node.nothing_moved = kNoOpenMp;
  EXPECT_THAT(text(record), AllOf(HasSubstr("moved     nothing: no OpenMP runtime is loaded, so no rank can"),
                                  Not(HasSubstr("note"))));
}

TEST(Summary, NamesTheToolThatUsesOmptInItsPlace) {
  RunRecord record = no_regions();
  for (RankRecord& rank : record.ranks) rank.threads_at_start = 1;
  record.openmp.clear();
  record.openmp_tool = "/usr/lib/x86_64-linux-gnu/openmp-tools/libtool.so";
  EXPECT_THAT(text(record), HasSubstr("note      OpenMP is not measured, and no thread counts change:"));
  EXPECT_THAT(text(record), testing::ContainsRegex("start without[ \n]+that[ \n]+tool\\."));
  EXPECT_THAT(text(record), HasSubstr("MPI efficiency 62 %; without OpenMP regions, no other is known"));
  EXPECT_THAT(text(record), AllOf(Not(HasSubstr("no OpenMP runtime")), Not(HasSubstr("x OpenMP"))));
}

TEST(Summary, SaysWhatTheProgramLentByCalls) {
  RunRecord record = balanced();
  record.ranks[0].totals.lent = 3'000'000'000;
  record.ranks[0].totals.lent_by_call = 1'000'000'000;
  EXPECT_THAT(text(record),
              HasSubstr("lent      3.00 core s, 1.00 core s of it by calls of the program; no rank used them"));
}

// A region that borrowed a core for a moment may have added its sums in another order.
TEST(Summary, SaysThatLentCoresWereUsedForAMoment) {
  RunRecord record = balanced();
  record.ranks[0].totals.lent = 3'000'000'000;
  record.ranks[1].totals.borrowed = 1'000'000;
  EXPECT_THAT(text(record), HasSubstr("; less than 0.005 core s of that were used by\n            other ranks"));
}

TEST(Summary, SaysThatOthersHadTheCores) {
  RunRecord record = balanced();
  EXPECT_THAT(text(record), Not(HasSubstr("WARNING")));
  record.ranks[2].run_delay = 4.4;
  EXPECT_THAT(
      text(record),
      HasSubstr("  WARNING   a thread of rank 2 was ready to run but had no core for 44 % of the time: other programs\n"
                "            ran there; measure again without them\n"));
}

TEST(Summary, FixedThreadsAreToldWithoutARemarkToo) {
  RunRecord record = rich_run();
  record.remarks.clear();
  EXPECT_THAT(text(record), HasSubstr("note      rank 6: the program sets num_threads(4)\n"));
}

TEST(Summary, WhatIsZeroAsItIsPrintedIsNoGain) {
  RunRecord record = rich_run();
  NodeRecord& node = record.nodes[0];
  for (const double change : {0.0004, -0.0004}) {
    node.phase_before_low = node.phase_before_high = node.phase_before;
    node.phase_after = node.phase_after_low = node.phase_after_high = node.phase_before * (1 - change);
    EXPECT_THAT(text(record), HasSubstr("gain      no statistically significant change: 0.0 % (95 % CI ")) << change;
  }
}

TEST(Summary, ALossIsCalledALoss) {
  RunRecord record = rich_run();
  record.nodes[0].phase_after = 0.07;
  EXPECT_THAT(
      text(record),
      HasSubstr("loss      14.4 % more time (95 % CI 13.9 to 14.9 %): a step takes 70.0 ms instead of 61.2 ms"));
}

TEST(Summary, WhatWasNotCheckedIsNotClaimed) {
  RunRecord record = rich_run();
  record.decisions[1].outcome = Outcome::taken;
  record.nodes[0].phase_after = 0;
  EXPECT_THAT(text(record), HasSubstr("gain      not known: no equal steps before and after"));
}

TEST(Summary, RegionsWithoutMpiAreAWarning) {
  RunRecord record = balanced();
  for (RankRecord& rank : record.ranks) rank.totals.mpi_calls = 0;
  EXPECT_THAT(text(record), HasSubstr("WARNING   no blocking MPI call was seen, so no waits are known. Causes: the "
                                      "program makes none;"));
  record = one_rank();
  record.ranks[0].totals.mpi_calls = 0;
  EXPECT_THAT(text(record), Not(HasSubstr("WARNING"))) << "one rank need not call MPI";
}

TEST(Summary, SaysWhoCameLateToBroadcasts) {
  RunRecord record = balanced();
  EXPECT_THAT(text(record), Not(HasSubstr("bcast")));
  for (RankRecord& rank : record.ranks) rank.broadcasts = {1000, 980, 0, 20, 0, 0};
  EXPECT_THAT(text(record),
              HasSubstr("bcast     98 % of 1000 broadcasts through shared memory, 2 % by the MPI library\n"));
  EXPECT_THAT(text(record), HasSubstr("the gain is not known: only --collectives=auto"));
  record.options["collectives"] = "auto";
  EXPECT_THAT(text(record), HasSubstr("the gain is not known: too few of them were compared"));
  record.ranks[2].broadcasts.late = 900;
  record.ranks[2].broadcasts.behind = 9;
  EXPECT_THAT(text(record), HasSubstr("; rank 2 came 10.0\n            ms after the data"));
  for (RankRecord& rank : record.ranks) rank.broadcasts = {1000, 0, 980, 20, 0, 0};
  EXPECT_THAT(text(record),
              HasSubstr("bcast     98 % of 1000 broadcasts along a tree between nodes, 2 % by the MPI library\n"));
}

TEST(Summary, SaysWhatBroadcastsThroughSharedMemoryWon) {
  RunRecord record = balanced();
  Broadcasts compared = {1000, 900, 0, 100, 0, 0, 900, 2e-6, 1e-6, 3e-6, 20, 5e-3, 4e-3, 6e-3};
  for (RankRecord& rank : record.ranks) rank.broadcasts = compared;
  EXPECT_THAT(text(record), HasSubstr("a rank waited 2.00 us in each of them, 5.00 ms (95 % CI "));
  EXPECT_THAT(text(record), Not(HasSubstr("stands out")));
  compared.library_wait = 2.1e-6;
  for (RankRecord& rank : record.ranks) rank.broadcasts = compared;
  EXPECT_THAT(text(record), HasSubstr("statistically significant difference"));
  compared.shared = 3;  // compared, then handled by the MPI library
  compared.library = 997;
  for (RankRecord& rank : record.ranks) rank.broadcasts = compared;
  EXPECT_THAT(text(record), Not(HasSubstr("bcast")));
}

/// Anything that a record may hold, edited by hand or damaged.
RunRecord any_record(std::mt19937_64& random) {
  const auto number = [&]() -> double {
    const double values[] = {0, -1, 1e-12, 0.3, 1e300, -1e300, std::numeric_limits<double>::quiet_NaN(), 7};
    return values[random() % std::size(values)];
  };
  const auto any_int = [&] { return static_cast<int>(random() % 4 == 0 ? random() : random() % 20); };
  const auto words = [&] {
    std::string s;
    for (std::size_t n = random() % 200; s.size() < n;) s += static_cast<char>(random() % 5 == 0 ? ' ' : random());
    return s;
  };
  RunRecord record;
  record.wall = number();
  record.metrics.mpi = number();
  record.instrument = words();
  for (std::size_t i = random() % 12; i-- > 0;) {
    RankRecord rank = sample_rank(any_int(), any_int(), any_int() % 1000, any_int() % 10000, any_int() % 10000);
    rank.waited_for = {{any_int(), number()}, {any_int(), number()}};
    rank.fixed_reason = random() % 3 == 0 ? words() : "";
    rank.broadcasts = {any_int(), any_int(), any_int(), any_int(), any_int(), number()};
    for (const LeftField& field : kLeftFields) {
      if (random() % 3 == 0) rank.broadcasts.*field.count = any_int();
    }
    for (const TotalsField& field : kTotalsFields) {
      if (random() % 9 == 0) rank.totals.*field.value = any_int();
    }
    record.ranks.push_back(rank);
  }
  for (std::size_t i = random() % 5; i-- > 0;) {
    NodeRecord node = sample_node(any_int(), any_int(), any_int());
    node.phase_before = number();
    node.phase_after = number();
    node.phase_after_low = node.phase_after - number();
    node.phase_after_high = node.phase_after + number();
    node.nothing_moved = random() % 2 == 0 ? words() : "";
    record.nodes.push_back(node);
  }
  for (std::size_t i = random() % 9; i-- > 0;) {
    DecisionRecord move = sample_move(number(), any_int(), static_cast<Outcome>(random() % 4));
    move.forecast_gain = number();
    move.measured_gain = number();
    record.decisions.push_back(move);
  }
  for (std::size_t i = random() % 9; i-- > 0;) record.remarks.push_back(words());
  return record;
}

TEST(Summary, StaysWithinItsBoundsWhateverTheRecord) {
  std::mt19937_64 random(1);
  for (int round = 0; round < (base::sanitized ? 100 : 1000); ++round) {
    const RunRecord record = any_record(random);
    const std::vector<std::string> lines = summary(record, "r.json");
    ASSERT_LE(lines.size(), 20u);
    for (const std::string& line : lines) ASSERT_LE(width(line), 100u) << line;
    ASSERT_FALSE(full_report(record).empty());
  }
}

TEST(Summary, SaysThatThereIsMoreThanItHasRoomFor) {
  RunRecord record = many_ranks();
  for (int i = 0; i < 9; ++i) record.nodes[static_cast<std::size_t>(i)].nothing_moved = "reason " + std::to_string(i);
  record.regions = rich_run().regions;
  EXPECT_EQ(text(record).find("more: see"), std::string::npos) << text(record);
  for (RegionRecord& region : record.regions) region.name.append(60, 'x');
  record.tasks = {TasksRecord{}};
  const std::string said = text(record);
  EXPECT_NE(said.find("\n  note      more: see `steelyard report --full`\n  record "), std::string::npos) << said;
}

TEST(Summary, SleepInAPhaseIsNoTimeInMpi) {
  RunRecord record = rich_run();
  for (RankRecord& rank : record.ranks) rank.totals.quiesced = rank.totals.mpi;
  EXPECT_NE(text(record).find("no rank spent more than "), std::string::npos) << text(record);
}

TEST(Summary, RegionsWithLongNamesKeepTheirFigures) {
  RunRecord record = rich_run();
  record.regions.front().name = "pressure_correction";
  EXPECT_NE(text(record).find("MPI 78 %\n            x OpenMP 97 %\n"), std::string::npos) << text(record);
}

TEST(Summary, NamesTheLevelOfItsIntervals) {
  RunRecord record = rich_run();
  EXPECT_EQ(confidence_of(record), 0.95) << "older records do not say it";
  record.options["confidence"] = "0.999";
  EXPECT_THAT(summary(record), testing::Contains(HasSubstr("less time (99.9 % CI 21.5 to 22.3 %)")));
  EXPECT_THAT(full_report(record), HasSubstr("of confidence 99.9 %"));
}

TEST(FullReport, ListsEveryRankAndReason) {
  const std::string report = full_report(many_ranks());
  EXPECT_THAT(report, HasSubstr("\n  4095   511 "));
  EXPECT_THAT(report, HasSubstr("node 510: nothing moved: balanced"));
  EXPECT_THAT(report, HasSubstr("remark 8 with"));
}

}  // namespace
}  // namespace steelyard::observe
