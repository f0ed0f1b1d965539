// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Launcher::Kind;
using Level = Finding::Level;

/// Cores with hardware threads that are neighbours.
node::Topology node_of(int cores, int hardware_threads = 1) {
  node::Topology topology;
  for (int pu = 0; pu < cores * hardware_threads; ++pu) {
    topology.pus.push_back({});
    topology.pus.back().os_index = pu;
    topology.pus.back().core = pu / hardware_threads;
  }
  return topology;
}

RankReport rank(int number, int threads, const std::string& cpus) {
  return {number, threads, *node::CpuSet::parse(cpus), {}};
}

std::vector<std::string> notes(const std::vector<RankReport>& reports, const node::Topology& topology, double quota = 0,
                               Kind launcher = Kind::openmpi) {
  std::vector<std::string> texts;
  for (const auto& finding : examine_node(reports, topology, quota, launcher)) {
    EXPECT_EQ(finding.level, Level::note);
    texts.push_back(finding.text);
  }
  return texts;
}

TEST(RankReport, IsTheSameAfterItsWayAsText) {
  auto sent = rank(3, 4, "0-3,8");
  sent.findings = {{Level::ok, "MPI: Open MPI"}, {Level::problem, "a name\nwith a line end"}, {Level::note, ""}};
  const auto got = report_from(to_text(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->rank, 3);
  EXPECT_EQ(got->threads, 4);
  EXPECT_EQ(got->mask, sent.mask);
  ASSERT_THAT(got->findings, SizeIs(3));
  EXPECT_EQ(got->findings[1].level, Level::problem);
  EXPECT_EQ(got->findings[1].text, "a name?with a line end");
  EXPECT_TRUE(report_from(to_text(rank(0, 1, "")))) << "the kernel has told no affinity mask";
  for (const char* text : {"", "x", "1 2 0-\n", "1 2 0\n7 text\n", "1 2 0\ntext\n"}) EXPECT_FALSE(report_from(text));
}

TEST(MergedFindings, NameTheRanksThatDiffer) {
  auto zero = rank(0, 1, "0"), one = rank(1, 1, "1"), two = rank(2, 1, "2");
  const Finding mpi{Level::ok, "MPI"}, few{Level::note, "few CPUs"}, many{Level::ok, "many CPUs"},
      end{Level::ok, "end"};
  zero.findings = {mpi, many, end};
  one.findings = {mpi, few, end};
  two.findings = {mpi, few, end};
  std::vector<std::string> texts;
  for (const auto& finding : merged({zero, one, two})) texts.push_back(finding.text);
  EXPECT_THAT(texts, ElementsAre("MPI", "ranks 1-2: few CPUs", "rank 0: many CPUs", "end"));
  texts.clear();
  for (const auto& finding : merged({one})) texts.push_back(finding.text);
  EXPECT_THAT(texts, ElementsAre("MPI", "few CPUs", "end")) << "nothing to tell apart";
}

TEST(ExamineNode, NotesMoreThreadsThanCpus) {
  EXPECT_THAT(notes({rank(0, 2, "0-3"), rank(1, 2, "0-3")}, node_of(4)), IsEmpty());
  EXPECT_THAT(notes({rank(0, 4, "0-3"), rank(1, 4, "0-3")}, node_of(4)),
              ElementsAre("CPUs: ranks 0-1 have 8 threads for 4 cores (CPUs 0-3), which is oversubscription; "
                          "set OMP_NUM_THREADS=2, or start at most 1 rank on this node"));
  EXPECT_THAT(notes({rank(0, 1, "0"), rank(1, 1, "1"), rank(2, 1, "0-1")}, node_of(2)),
              ElementsAre(AllOf(HasSubstr("ranks 0-2 have 3 threads for 2 cores (CPUs 0-1)"),
                                HasSubstr("start at most 2 ranks on this node"))));
  EXPECT_THAT(notes({rank(0, 8, "0-3")}, node_of(4)), ElementsAre(testing::EndsWith("; set OMP_NUM_THREADS=4")));
}

TEST(ExamineNode, NotesBindingsThatAreTooNarrow) {
  const std::vector<RankReport> bound{rank(0, 4, "0"), rank(1, 4, "1")};
  EXPECT_THAT(notes(bound, node_of(48)), ElementsAre(AllOf(HasSubstr("ranks 0-1 have 8 threads for 2 cores (CPUs 0-1)"),
                                                           HasSubstr("use mpirun --map-by slot:PE=4"))));
  EXPECT_THAT(notes(bound, node_of(48), 0, Kind::hydra), ElementsAre(HasSubstr("use mpirun -bind-to core:4")));
  EXPECT_THAT(notes({rank(0, 1, "0-5"), rank(1, 4, "6-7"), rank(2, 3, "6-7")}, node_of(8)),
              ElementsAre(HasSubstr("ranks 1-2 have 7 threads for 2 cores (CPUs 6-7)")))
      << "there is room for all, elsewhere";
}

TEST(ExamineNode, NotesSecondHardwareThreads) {
  EXPECT_THAT(
      notes({rank(0, 4, "0-7"), rank(1, 4, "0-7")}, node_of(4, 2)),
      ElementsAre(AllOf(HasSubstr("ranks 0-1 have 8 threads for 4 cores (CPUs 0-7), so several threads share a core"),
                        HasSubstr("set OMP_NUM_THREADS=2"))));
}

TEST(ExamineNode, NotesAQuotaBelowTheCpusOfAllRanks) {
  const std::vector<RankReport> bound{rank(0, 1, "0"), rank(1, 1, "1"), rank(2, 1, "2")};
  EXPECT_THAT(notes(bound, node_of(4), 3), IsEmpty());
  EXPECT_THAT(notes(bound, node_of(4), 2.5), ElementsAre(HasSubstr("quota is 2.5 CPUs, and the affinity masks here")));
  EXPECT_THAT(notes({rank(-1, 1, "0-3")}, node_of(4), 1.5, Kind::none), SizeIs(1));
}

TEST(ExamineNode, LeavesToOthersWhatItDoesNotKnow) {
  const std::vector<RankReport> full{rank(0, 4, "0-3"), rank(1, 4, "0-3")};
  EXPECT_THAT(notes(full, node_of(4), 0, Kind::slurm), IsEmpty());
  EXPECT_THAT(notes(full, node_of(4), 0, Kind::none), IsEmpty());
  auto emulated = node_of(4);
  emulated.emulated = true;
  EXPECT_THAT(notes(full, emulated), IsEmpty());
  EXPECT_THAT(notes({rank(0, 4, "")}, node_of(4)), IsEmpty()) << "the kernel has told no affinity mask";
}

}  // namespace
}  // namespace steelyard::cli
