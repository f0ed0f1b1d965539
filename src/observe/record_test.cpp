// SPDX-License-Identifier: BSD-3-Clause
#include "observe/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <random>
#include <regex>

#include "observe/sample_records.h"

namespace steelyard::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Contribution rich_contribution() {
  const RunRecord run = rich_run();
  return {run.ranks[6],    run.nodes,   run.decisions, run.loops, run.kept_regions, run.other_regions, run.regions,
          run.intercepted, run.remarks, run.phases,    run.tasks, run.trees,        {{1, 0.25}}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(RecordJson, ComesBackAsItWas) {
  const std::string text = to_json(rich_run());
  RunRecord back;
  const base::Status status = from_json(text, back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(to_json(back), text);
  const RankRecord& rank = back.ranks[6];
  EXPECT_EQ(rank.fixed_reason, "the program sets num_threads(4)");
  EXPECT_EQ(rank.waited_for.at(0), 3.1);
  std::vector<Sample> samples;
  ASSERT_TRUE(unpack(rank.timeline, samples));
  EXPECT_EQ(samples[1].threads, 4);
  EXPECT_EQ(rank.totals.region_useful, rich_run().ranks[6].totals.region_useful);
  EXPECT_EQ(back.decisions[1].outcome, Outcome::confirmed);
  EXPECT_EQ(back.options.at("cores"), "on");
}

TEST(RecordJson, LeavesOutBroadcastsWhereThereWereNone) {
  RunRecord record = rich_run(), back;
  EXPECT_EQ(to_json(record).find("broadcasts"), std::string::npos);
  record.ranks[1].broadcasts = {10, 7, 2, 1, 3, 0.5};
  record.ranks[1].scatters = {4, 3, 0, 1, 1, 0.5};
  ASSERT_TRUE(from_json(to_json(record), back));
  EXPECT_EQ(to_json(back), to_json(record));
  EXPECT_EQ(back.ranks[1].broadcasts.tree, 2);
  EXPECT_EQ(back.ranks[1].broadcasts.behind, 0.5);
  EXPECT_EQ(to_json(record).find("left_"), std::string::npos);
  EXPECT_EQ(back.ranks[0].broadcasts.calls, 0);
}

TEST(RecordJson, CarriesTheThresholdsOfItsReaders) {
  RunRecord record = rich_run(), back;
  record.thresholds.mpi_share = 0.25;
  record.thresholds.described_trees = 7;
  std::string text = to_json(record);
  base::Status status = from_json(text, back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.thresholds.mpi_share, 0.25);
  EXPECT_EQ(back.thresholds.described_trees, 7);
  // A record of an earlier version has none.
  const std::size_t begin = text.find(R"("thresholds")");
  text.erase(begin, text.find(R"("nodes")", begin) - begin);
  back = {};
  status = from_json(text, back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(back.thresholds.mpi_share, Thresholds{}.mpi_share);
}

TEST(RecordJson, SaysWhereSlurmRanIt) {
  RunRecord record = rich_run(), back;
  EXPECT_EQ(to_json(record).find("slurm"), std::string::npos);
  record.slurm = {"4711", "0", "node[01-04]"};
  const base::Status status = from_json(to_json(record), back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(to_json(back), to_json(record));
  EXPECT_EQ(back.slurm.node_list, "node[01-04]");
}

TEST(RecordJson, ReadsTimelinesOfEarlierVersions) {
  RunRecord record = rich_run(), back;
  std::string text = to_json(record);
  const std::size_t begin = text.find(R"("timeline": {)"), end = text.find('}', begin) + 1;
  text.replace(
      begin, end - begin,
      R"("timeline": [{"start": 0, "end": 0.5, "useful": 2.5, "omp_wait": 0, "mpi_wait": 0.25, "threads": 6}])");
  const base::Status status = from_json(text, back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(back.ranks[0].timeline, pack(std::vector<Sample>{{0, 0.5, 2.5, 0, 0.25, 6}}));
  EXPECT_EQ(back.ranks[1].timeline, record.ranks[1].timeline);
}

TEST(RecordJson, ReadsTasksOfEarlierVersions) {
  RunRecord record = rich_run(), back;
  record.tasks = {{3, 1, 1000, 900, 20, 5, 120, 240, 60, 4, 6, 1.5, 2, "messages"}};
  std::string text = to_json(record);
  const std::pair<std::string, std::string> renamed[] = {{"stolen_local", "stolen_here"},
                                                         {"stolen_remote", "stolen_far"},
                                                         {"busy_seconds", "busy"},
                                                         {"run_seconds", "inside"}};
  for (const auto& [name, old] : renamed) {
    const std::size_t at = text.find('"' + name + '"');
    ASSERT_NE(at, std::string::npos) << name;
    text.replace(at + 1, name.size(), old);
  }
  const base::Status status = from_json(text, back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(to_json(back), to_json(record));
}

TEST(RecordJson, WhatWasNotComparedHasNoInterval) {
  RunRecord record = rich_run(), back;
  record.phases = {
      {.rank = 4, .processes = 4, .autotuned = true, .configurations = {{"core", 1, 4, 1, 2, 0.5, 0.4, 0.6}, {}}}};
  ASSERT_TRUE(from_json(to_json(record), back));
  EXPECT_EQ(to_json(back), to_json(record));
  EXPECT_EQ(back.phases[0].configurations[0].gain_high, 0.6);
  EXPECT_TRUE(std::isinf(back.phases[0].configurations[1].gain_low) &&
              std::isinf(back.phases[0].configurations[1].gain_high));
}

TEST(RecordJson, EmptyRunIsARecord) {
  RunRecord back = rich_run();
  ASSERT_TRUE(from_json(to_json(RunRecord{}), back));
  EXPECT_EQ(to_json(back), to_json(RunRecord{}));
}

TEST(RecordJson, KeepsWhatJsonFindsHard) {
  RunRecord record = rich_run();
  record.command = {"./a \"b\"\n\t\\", "caf\u00e9", "\xff\xfe", std::string("\0x", 2)};
  record.ranks[0].totals.wall = std::numeric_limits<std::int64_t>::max();
  record.wall = std::numeric_limits<double>::infinity();
  record.metrics.mpi = std::numeric_limits<double>::quiet_NaN();
  record.nodes[0].phase_before = 1e-9;
  RunRecord back;
  const base::Status status = from_json(to_json(record), back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(back.command[0], record.command[0]);
  EXPECT_EQ(back.command[1], record.command[1]);
  EXPECT_EQ(back.command[2], "\ufffd\ufffd") << "what is not UTF-8 is marked";
  EXPECT_EQ(back.command[3], record.command[3]);
  EXPECT_EQ(back.ranks[0].totals.wall, record.ranks[0].totals.wall);
  EXPECT_EQ(back.wall, 0) << "JSON has no infinity";
  EXPECT_EQ(back.nodes[0].phase_before, 1e-9);
}

TEST(RecordJson, LinesStayReadable) {
  std::size_t start = 0;
  const std::string text = to_json(rich_run());
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 180u);
  EXPECT_THAT(text, HasSubstr("\"waited_for\": {\"0\": 3.1, \"1\": 0.25},\n"));
}

struct Fault {
  std::string from, to, sentence;
};

TEST(RecordJson, SaysWhatIsWrongAndWhere) {
  const Fault faults[] = {
      {R"("mpi": 3800000000)", R"("mpi": "many")", R"(ranks[6].totals_ns.mpi: expected a whole number, found "many")"},
      {R"("mpi": 3800000000)", R"("mpi": 3.5)", "ranks[6].totals_ns.mpi: expected a whole number, found 3.5"},
      {R"("mpi": 3800000000)", R"("mpi": 18446744073709551615)",
       "ranks[6].totals_ns.mpi: expected a whole number of 64 bits"},
      {R"("pid": 1003)", R"("pid": null)", "ranks[3].pid: expected a whole number, found null"},
      {R"("rank": 3)", R"("rank": 4294967296)", "ranks[3].rank: expected a whole number of 32 bits, found 4294967296"},
      {R"("pid": 1003,)", "", "ranks[3].pid: missing"},
      {R"("pid": 1003)", R"("pid": 1003, "pids": 1)", "ranks[3].pids: no such member"},
      {R"("waited_for": {"0": 3.1)", R"("waited_for": {"zero": 3.1)",
       R"(ranks[3].waited_for: expected ranks as names, found "zero")"},
      {R"("waited_for": {"0": 3.1)", R"("waited_for": {"99999999999": 3.1)",
       "ranks[3].waited_for: expected ranks as names"},
      {R"("emulated": true)", R"("emulated": 1)", "nodes[0].emulated: expected true or false, found 1"},
      {R"("outcome": "confirmed")", R"("outcome": "great")",
       "decisions[1].outcome: expected `declined`, `taken`, `confirmed`, `undone`, `undecided` or `requested`, "
       "found \"great\""},
      {R"("command": ["./miniFE.x", )", R"("command": [7, )", "command[0]: expected text, found 7"},
      {R"("options": {)", R"("options": {"x": [], )", "options.x: expected text, found a list"},
      {R"("wall": 12.3)", R"("wall": {})", "wall: expected a number, found an object"},
      {R"("samples": 2)", R"("samples": 3)", "ranks[0].timeline.length: expected 12 bytes for 3 samples, found 8"},
      {R"("samples": 2)", R"("samples": -1)", "ranks[0].timeline.samples: -1 are not in the columns"},
      {R"("samples": 2)", R"("samples": 9000000000000)", "ranks[0].timeline.samples: 9000000000000 are not"},
      {R"("length": "AAAAP)", R"("length": "AAA!P)", "ranks[0].timeline.length: not base64"},
      {R"("length": "AAAAP)", R"("length": "AAAAv)",
       "ranks[0].timeline.length: a number that is negative or not finite"},
      {R"("schema": 2)", R"("schema": 3)",
       "schema: this version of Steelyard reads 1 to 2, found 3; read it with the version"},
      {R"("schema": 2)", R"("schema": "x")", "schema: expected a whole number"},
      {R"("schema": 2,)", "", "schema: missing"},
      {R"("version")", R"(version)", "not JSON, or cut off: parse error at line 3"},
  };
  const std::string good = to_json(rich_run());
  for (const Fault& fault : faults) {
    RunRecord record;
    record.version = "untouched";
    const base::Status status = from_json(replaced(good, fault.from, fault.to), record);
    EXPECT_FALSE(status) << fault.sentence;
    EXPECT_THAT(status.sentence(), StartsWith(fault.sentence));
    EXPECT_THAT(status.sentence(), HasSubstr("; ")) << "what to do";
    EXPECT_EQ(record.version, "untouched");
    EXPECT_TRUE(record.ranks.empty());
  }
}

TEST(RecordJson, ReadsRecordsThatCountPreemptions) {
  std::string text = replaced(to_json(rich_run()), R"("pid": 1003)", R"("pid": 1003, "preempted": 300)");
  text = std::regex_replace(text, std::regex(R"("run_delay": 0.1,\s*"run_delay_lending": 0.25)"),
                            R"("core_share": 0.75, "preemptions": 10, "many_preemptions": 100)");
  RunRecord record;
  const base::Status status = from_json(text, record);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(record.ranks[3].run_delay, -1);
  EXPECT_EQ(record.thresholds.run_delay, Thresholds().run_delay);
  EXPECT_EQ(to_json(record), to_json(rich_run()));
}

TEST(RecordJson, ReadsHalfWidthsOfSchema1AsBounds) {
  std::string text = replaced(to_json(rich_run()), R"("schema": 2)", R"("schema": 1)");
  text = std::regex_replace(text, std::regex(R"("measured_low": 0.215,\s*"measured_high": 0.223)"),
                            R"("measured_noise": 0.3)");
  RunRecord record;
  const base::Status status = from_json(text, record);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(record.schema, kSchema);
  EXPECT_NEAR(record.decisions[1].measured_low, -0.081, 1e-9);
  EXPECT_NEAR(record.decisions[1].measured_high, 0.519, 1e-9);
  EXPECT_EQ(record.decisions[1].outcome, Outcome::undecided) << "its interval contains zero";
}

TEST(RecordJson, SurvivesAnything) {
  const std::string good = to_json(rich_run());
  RunRecord record;
  for (const std::string text : {"", " ", "null", "[]", "3", "\"x\"", "{}", "{\"schema\": 2}"})
    EXPECT_FALSE(from_json(text, record)) << text;
  EXPECT_FALSE(from_json(std::string(1'000'000, '['), record)) << "deep nesting";
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    std::string text = good.substr(0, random() % good.size());
    EXPECT_FALSE(from_json(text, record)) << "cut off";
    text = good;
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    (void)!from_json(text, record);
  }
}

TEST(RecordPack, ComesBackAsItWas) {
  Contribution back;
  const std::string bytes = pack(rich_contribution());
  const base::Status status = unpack(bytes, back);
  ASSERT_TRUE(status) << status.sentence();
  EXPECT_EQ(pack(back), bytes);
  EXPECT_EQ(back.rank.pid, 1006);
  EXPECT_EQ(back.decisions.size(), 2u);
  ASSERT_TRUE(unpack(pack(Contribution{}), back));
  EXPECT_TRUE(back.node.empty());
}

TEST(RecordPack, DamageIsToldAndChangesNothing) {
  const std::string good = pack(rich_contribution());
  std::mt19937 random(2);
  Contribution kept;
  kept.rank.rank = 77;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    if (round % 3 == 0) bytes.resize(random() % good.size());
    if (round % 3 == 1) bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    if (round % 3 == 2) {
      bytes.resize(random() % 200);
      for (char& byte : bytes) byte = static_cast<char>(random());
    }
    const base::Status status = unpack(bytes, kept);
    ASSERT_FALSE(status);
    ASSERT_THAT(status.sentence(), HasSubstr("are all ranks running the same version"));
    ASSERT_EQ(kept.rank.rank, 77);
  }
  EXPECT_FALSE(unpack(std::string(5'000'000, '\x81'), kept)) << "a list in a list in a list ...";
}

TEST(RecordMerge, PutsRanksNodesAndDecisionsInOrder) {
  std::vector<Contribution> parts(4);
  for (int i = 0; i < 4; ++i) parts[i].rank = sample_rank(3 - i, (3 - i) / 2, 2, 5 + i, 10 + i);
  parts[1].node = {sample_node(1, 2, 4)};
  parts[3].node = {sample_node(0, 2, 4)};
  parts[1].decisions = {sample_move(3, 1, Outcome::taken)};
  parts[3].decisions = {sample_move(1, 0, Outcome::confirmed), sample_move(4, 0, Outcome::undone)};
  RunRecord record;
  merge(record, parts);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(record.ranks[i].rank, i);
  EXPECT_EQ(record.nodes[0].index, 0);
  EXPECT_EQ(record.nodes[1].index, 1);
  EXPECT_EQ(record.decisions[1].time, 3);
  EXPECT_DOUBLE_EQ(record.wall, 0.013);
  EXPECT_LT(record.metrics.parallel, 0.7);
  EXPECT_GT(record.metrics.parallel, 0.4);
}

TEST(RecordMerge, NothingGivesAnEmptyRecord) {
  RunRecord record;
  merge(record, {});
  EXPECT_EQ(to_json(record), to_json(RunRecord{}));
}

TEST(RecordMerge, SaysOnceWhatSeveralSay) {
  std::vector<Contribution> parts(5);
  for (int i = 0; i < 5; ++i) {
    parts[i].rank.rank = i;
    parts[i].intercepted = {"MPI (C)"};
    parts[i].remarks = {"all say this"};
    if (i != 1) parts[i].remarks.push_back("some say this");
    if (i == 2) parts[i].remarks.insert(parts[i].remarks.end(), {"one says this", "one says this"});
  }
  parts[4].intercepted.push_back("OpenMP regions");
  RunRecord record;
  merge(record, parts);
  EXPECT_THAT(record.intercepted, ElementsAre("MPI (C)", "OpenMP regions"));
  EXPECT_THAT(record.remarks, ElementsAre("all say this", "ranks 0, 2-4: some say this", "rank 2: one says this"));
}

TEST(RecordMerge, TellsOnceWhichRegionsKeptTheirThreadCount) {
  std::vector<Contribution> parts(2);
  for (int i = 0; i < 2; ++i) parts[i].rank = sample_rank(i, 0, 2, 1000, 2000);
  parts[0].kept_regions = {{"app+0x10", "smooth", false, 1, 0.1}, {"app+0x20", "relax", false, 1, 0.3}};
  parts[1].kept_regions = {{"app+0x10", "smooth", false, 1, 0.5}, {"lib.so+0x30", "", false, 1, 0.002}};
  RunRecord record;
  record.command = {"./app", "input"};
  merge(record, parts);
  ASSERT_EQ(record.kept_regions.size(), 3u);
  EXPECT_EQ(record.kept_regions[0].function, "smooth");
  EXPECT_EQ(record.kept_regions[0].ranks, 2);
  EXPECT_DOUBLE_EQ(record.kept_regions[0].time, 0.6);
  EXPECT_THAT(record.remarks,
              ElementsAre("regions that query thread IDs kept their thread count (3 regions, 45 % of the time in "
                          "regions): smooth, relax, lib.so+0x30; `steelyard doctor --verbose ./app` names the source "
                          "lines, if compiled with -g"));

  for (int i = 0; i < 3; ++i)
    parts[0].kept_regions.push_back({"app+0x4" + std::to_string(i), "f" + std::to_string(i), false, 1, 0.01});
  parts[0].kept_regions.push_back({"app+0x50", "smooth", false, 1, 0.05});
  record = {};
  merge(record, parts);
  EXPECT_THAT(record.remarks[0], HasSubstr("7 regions")) << "two of them in one function";
  EXPECT_THAT(record.remarks[0], HasSubstr("smooth, relax, f0 and 3 more; `steelyard doctor --verbose PROGRAM`"));
}

TEST(RecordMerge, TellsApartTheRegionsThatRepeatTheirWork) {
  Contribution part;
  part.rank = sample_rank(0, 0, 2, 1000, 2000);
  part.kept_regions = {{"app+0x10", "smooth", false, 1, 0.2}, {"app+0x20", "relax", true, 1, 0.1}};
  RunRecord record;
  merge(record, {part});
  ASSERT_EQ(record.remarks.size(), 2u);
  EXPECT_THAT(record.remarks[0], HasSubstr("query thread IDs kept their thread count (1 region, "));
  EXPECT_THAT(record.remarks[1], HasSubstr("loops, sections or tasks kept their thread count (1 region, "));
  EXPECT_THAT(record.remarks[1], HasSubstr(": relax"));
}

TEST(RecordMerge, RegionsThatTakeNoTimeAreOnlyInTheRecord) {
  Contribution part;
  part.rank = sample_rank(0, 0, 2, 1000, 2000);
  part.kept_regions = {{"app+0x10", "smooth", false, 1, 0.009}};
  RunRecord record;
  merge(record, {part});
  EXPECT_EQ(record.kept_regions.size(), 1u);
  EXPECT_TRUE(record.remarks.empty());
}

TEST(RecordMerge, SaysIfRegionsTakeTooLittleTimeForMoreThreads) {
  const auto remarks = [](std::int64_t region_wall) {
    std::vector<Contribution> ranks(2);
    for (Contribution& part : ranks)
      part.rank.totals = {.wall = 2'000'000'000, .serial = 1'000'000'000, .region_wall = region_wall, .regions = 1};
    RunRecord record;
    merge(record, std::move(ranks));
    return record.remarks;
  };
  EXPECT_THAT(
      remarks(2'000'000),
      ElementsAre("ranks compute in parallel regions for 0.2 % of their time outside MPI: more cores or threads "
                  "per rank shorten nothing else"));
  EXPECT_THAT(remarks(20'000'000), testing::IsEmpty());
}

TEST(RecordMerge, CountsEqualDeclinedDecisions) {
  Contribution part;
  DecisionRecord declined = sample_move(1, 0, Outcome::declined);
  DecisionRecord elsewhere = sample_move(1.5, 1, Outcome::declined);
  part.decisions = {declined, elsewhere, declined, sample_move(2, 0, Outcome::taken), sample_move(2, 0, Outcome::taken),
                    declined};
  part.decisions[2].time = 1.7;
  part.decisions[2].repeats = 4;
  part.decisions[5].time = 3;
  RunRecord record;
  merge(record, {part});
  ASSERT_EQ(record.decisions.size(), 5u) << "moves are listed, and what came after one is new";
  EXPECT_EQ(record.decisions[0].repeats, 5);
  EXPECT_EQ(record.decisions[1].repeats, 1);
}

TEST(Merge, NamesThreadsThatWereNeverUsed) {
  const auto merged = [](int used, int other) {
    Contribution first, second;
    first.rank = sample_rank(0, 0, 2, 9900, 10000);
    second.rank = sample_rank(1, 0, 2, 9900, 10000);
    first.rank.threads_used = used;
    second.rank.threads_used = other;
    first.node = {sample_node(0, 2, 3)};
    first.node[0].nothing_moved = "more threads than cores: 2 ranks with 4 threads in all share 3 cores";
    first.node[0].oversubscribed = "threads";
    RunRecord record;
    merge(record, {first, second});
    EXPECT_EQ(record.nodes[0].oversubscribed.empty(), !record.nodes[0].nothing_moved.starts_with("more threads"));
    return record.nodes[0].nothing_moved;
  };
  EXPECT_EQ(merged(1, 1),
            "the program runs fewer threads than OMP_NUM_THREADS asks for: 1 each instead of 2 each, on 3 cores; set "
            "OMP_NUM_THREADS=1");
  EXPECT_THAT(merged(0, 0), StartsWith("more threads than cores"));
  EXPECT_THAT(merged(0, 1), StartsWith("more threads than cores")) << "a rank needs two";
}

// The Python tests hold these files against the published schema.
TEST(RecordFiles, ForTheSchema) {
  RunRecord rich = rich_run();
  rich.ranks[2].broadcasts = {10, 7, 2, 1, 3, 0.5, 7, 2e-6, 1e-6, 3e-6, 1, 5e-3, 0, 0.01};
  rich.ranks[2].scatters = {4, 3, 0, 1, 1, 0.5};
  for (const LeftField& field : kLeftFields) rich.ranks[2].broadcasts.*field.count = 3;
  rich.trees = {{{0, 2, 4}, {0, 4, 2}}, {{0, 2, 4}, {0, 4, 2}, 60, 3, 1, 0}};
  rich.ranks[2].cpu = 55.5;
  rich.ranks[2].run_delay = 0.5;
  rich.ranks[2].throttled = 1.25;
  rich.ranks[2].threads_used = 1;
  rich.ranks[2].totals.quiesced = 250 * kMillisecond;
  rich.ranks[2].totals.came_late = 150 * kMillisecond;
  rich.ranks[2].totals.lent_by_call = 120 * kMillisecond;
  rich.ranks[2].totals.gpu = 100 * kMillisecond;
  rich.ranks[2].totals.gpu_capacity = 400 * kMillisecond;
  rich.ranks[2].totals.gpu_waits = 5;
  rich.ranks[2].totals.omp_tasks = 7;
  rich.ranks[2].totals.virtual_regions = 1;
  rich.metrics.gpu = 0.9;
  rich.phases = {
      {.processes = 4, .autotuned = true, .runs = 30, .seconds = 1.2, .best = 1, .configurations = {{}, {}}}};
  rich.phases[0].configurations[0].gain_low = 0.1;
  rich.phases[0].configurations[0].gain_high = 0.2;
  rich.tasks.emplace_back();
  rich.openmp_tool = "/opt/tool/libtool.so";
  rich.slurm = {"4711", "0", "node[01-04]"};
  std::ofstream(STEELYARD_RECORDS "/rich.json") << to_json(rich);
  RunRecord empty = sample_run();
  empty.command.clear();
  empty.mpi.clear();
  std::ofstream(STEELYARD_RECORDS "/empty.json") << to_json(empty);
}

}  // namespace
}  // namespace steelyard::observe
