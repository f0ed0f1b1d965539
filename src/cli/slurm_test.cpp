// SPDX-License-Identifier: BSD-3-Clause
#include "cli/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

using base::Environment;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Environment task(Environment more) {
  more.insert({{"SLURM_JOB_ID", "4711"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"PMIX_RANK", "0"}});
  return more;
}

/// The one finding about the binding.
SlurmFinding binding(const Environment& environment, int cpus, int cores = 0) {
  const auto findings = examine_slurm(task(environment), cpus, Mpi::openmpi, cores);
  EXPECT_EQ(findings.size(), 1u);
  return findings.empty() ? SlurmFinding{} : findings.front();
}

TEST(SlurmJob, IsFoundByItsVariables) {
  EXPECT_EQ(find_slurm_job({}).job, "");
  EXPECT_EQ(find_slurm_job({{"SLURM_STEP_ID", "1"}, {"SLURM_NODELIST", "n1"}}).node_list, "")
      << "no job, no more of it";
  const auto batch = find_slurm_job({{"SLURM_JOBID", "12"}, {"SLURM_NODELIST", "n[1-4]"}});
  EXPECT_EQ(batch.job, "12");
  EXPECT_EQ(batch.step, "");
  EXPECT_EQ(batch.node_list, "n[1-4]");
  const auto step = find_slurm_job({{"SLURM_JOB_ID", "12"},
                                    {"SLURM_STEP_ID", "3"},
                                    {"SLURM_STEP_NODELIST", "n2"},
                                    {"SLURM_JOB_NODELIST", "n[1-4]"}});
  EXPECT_EQ(step.step, "3");
  EXPECT_EQ(step.node_list, "n2");
}

TEST(ExamineSlurm, SaysNothingWhereSrunHasStartedNothing) {
  EXPECT_TRUE(examine_slurm({}, 1, Mpi::openmpi).empty());
  EXPECT_TRUE(examine_slurm({{"SLURM_JOB_ID", "1"}, {"SLURM_CPU_BIND", "none"}}, 1, Mpi::openmpi).empty());
  EXPECT_TRUE(examine_slurm(task({{"OMPI_COMM_WORLD_SIZE", "4"}}), 1, Mpi::openmpi).empty()) << "mpirun in a job";
}

TEST(ExamineSlurm, FindsTooFewCpus) {
  const auto one = binding({{"OMP_NUM_THREADS", "6"}, {"SLURM_CPU_BIND", "quiet,mask_cpu:0x1"}}, 1);
  EXPECT_FALSE(one.fits);
  EXPECT_THAT(one.text, AllOf(HasSubstr("1 CPU (--cpu-bind=mask_cpu:0x1) for 6 threads"),
                              HasSubstr("--cpus-per-task=6"), Not(HasSubstr("SRUN_CPUS_PER_TASK"))));
  const auto forgotten = binding({{"OMP_NUM_THREADS", "6,2"}, {"SLURM_CPUS_PER_TASK", "6"}}, 2);
  EXPECT_FALSE(forgotten.fits);
  EXPECT_THAT(forgotten.text, AllOf(HasSubstr("2 CPUs for 6 threads"), HasSubstr("SRUN_CPUS_PER_TASK")));
  const auto single = binding({{"SLURM_CPU_BIND", "verbose,map_cpu:3"}}, 1);
  EXPECT_FALSE(single.fits);
  EXPECT_THAT(single.text, AllOf(HasSubstr("one CPU (--cpu-bind=map_cpu:3)"), HasSubstr("--cpus-per-task=N")));
}

TEST(ExamineSlurm, FindsThreadsThatShareACore) {
  const auto shared = binding({{"OMP_NUM_THREADS", "6"}, {"SLURM_CPU_BIND", "quiet,mask_cpu:0x3f"}}, 6, 3);
  EXPECT_FALSE(shared.fits);
  EXPECT_THAT(shared.text, AllOf(HasSubstr("6 threads (OMP_NUM_THREADS) on 3 cores (6 CPUs)"),
                                 HasSubstr("srun --hint=nomultithread --cpus-per-task=6")));
  EXPECT_TRUE(binding({{"OMP_NUM_THREADS", "6"}}, 12, 6).fits);
  EXPECT_FALSE(binding({{"OMP_NUM_THREADS", "6"}, {"SLURM_CPU_BIND", "none"}}, 6, 3).fits) << "with any binding";
}

TEST(ExamineSlurm, LeavesGoodOnesAlone) {
  const auto cores = binding({{"OMP_NUM_THREADS", "6"}, {"SLURM_CPU_BIND", "quiet,mask_cpu:0x3f"}}, 6);
  EXPECT_TRUE(cores.fits);
  EXPECT_THAT(cores.text, HasSubstr("6 CPUs for this task (--cpu-bind=mask_cpu:0x3f)"));
  EXPECT_TRUE(binding({{"SLURM_CPU_BIND", "quiet"}}, 4).fits);
  EXPECT_TRUE(binding({{"OMP_NUM_THREADS", "many"}}, 4).fits);
  const auto none = binding({{"OMP_NUM_THREADS", "6"}, {"SLURM_CPU_BIND", "none"}}, 48);
  EXPECT_TRUE(none.fits);
  EXPECT_THAT(none.text, HasSubstr("share its 48 CPUs"));
}

/// A step's own numbers: so many tasks on its nodes.
Environment step(const std::string& tasks, const std::string& bind, const std::string& threads) {
  return {{"SLURM_STEP_TASKS_PER_NODE", tasks}, {"SLURM_CPU_BIND", bind}, {"OMP_NUM_THREADS", threads}};
}

TEST(ExamineSlurm, FindsTooManyTasksOnUnboundCpus) {
  const auto crowded = binding(step("8", "quiet,none", "12"), 48);
  EXPECT_FALSE(crowded.fits);
  EXPECT_THAT(crowded.text, AllOf(HasSubstr("8 tasks of this node share 48 CPUs (--cpu-bind=none) for 96 threads"),
                                  HasSubstr("--cpus-per-task=12"), HasSubstr("fewer tasks on a node")));
  EXPECT_TRUE(binding(step("4", "quiet,none", "12"), 48).fits);
  EXPECT_FALSE(binding(step("5", "quiet,none", "12"), 48).fits);
  EXPECT_TRUE(binding(step("1", "quiet,none", "12"), 48).fits);
  const auto halves = binding(step("4", "none", "12"), 48, 24);
  EXPECT_FALSE(halves.fits);
  EXPECT_THAT(halves.text,
              AllOf(HasSubstr("4 tasks of this node share 48 CPUs"), HasSubstr("on 24 cores"), HasSubstr("=6")));
  EXPECT_TRUE(binding(step("2", "none", "12"), 48, 24).fits);
  EXPECT_FALSE(binding({{"SLURM_STEP_TASKS_PER_NODE", "3"}, {"SLURM_CPU_BIND", "none"}}, 2).fits)
      << "each has a thread, even if no variable says so";
  const auto one = binding(step("1", "none", "1"), 1);
  EXPECT_FALSE(one.fits);
  EXPECT_THAT(one.text, Not(HasSubstr("or --cpu-bind"))) << "which it has";
}

TEST(ExamineSlurm, FindsTasksThatShareAMask) {
  // Of a node with two sockets of 24 CPUs.
  const std::string one = "0xFFFFFF", other = "0xFFFFFF000000";
  const auto crowded = binding(step("4", "quiet,mask_cpu:" + one + "," + one + "," + one + "," + one, "12"), 24);
  EXPECT_FALSE(crowded.fits);
  EXPECT_THAT(crowded.text, AllOf(HasSubstr("4 tasks of this node share 24 CPUs"), HasSubstr("for 48 threads")));
  EXPECT_FALSE(binding(step("4", "quiet,sockets,mask_cpu:" + one, "12"), 24).fits) << "one mask for all";
  EXPECT_TRUE(binding(step("4", "mask_cpu:" + one + "," + other, "12"), 24).fits) << "by turns";
  EXPECT_TRUE(binding(step("4", "mask_cpu:" + one + "," + one + "," + other + "," + other, "12"), 24).fits);
  EXPECT_FALSE(binding(step("4", "mask_cpu:" + one + "," + one + "," + one + "," + other, "12"), 24).fits);
  EXPECT_FALSE(binding(step("3", "mask_cpu:" + one + ",0xFFF,0xFFF", "12"), 24).fits) << "one in the other";
  EXPECT_TRUE(binding(step("3", "mask_cpu:" + one + ",0xzz,0xFFF", "12"), 24).fits) << "not understood";
}

TEST(ExamineSlurm, FindsMoreThreadsThanCpusOfTheStepWhereItNamesNoMasks) {
  auto sockets = step("4", "quiet,sockets", "12");
  EXPECT_TRUE(binding(sockets, 24).fits) << "not known how many have it";
  sockets["SLURM_CPUS_ON_NODE"] = "48";
  EXPECT_TRUE(binding(sockets, 24).fits);
  sockets["SLURM_CPUS_ON_NODE"] = "24";
  EXPECT_FALSE(binding(sockets, 24).fits);
}

TEST(ExamineSlurm, CountsTheTasksOfItsOwnNode) {
  auto uneven = step("2(x3),8,1", "none", "12");
  for (const char* roomy : {"0", "2", "4"}) {
    uneven["SLURM_NODEID"] = roomy;
    EXPECT_TRUE(binding(uneven, 48).fits) << roomy;
  }
  uneven["SLURM_NODEID"] = "3";
  EXPECT_THAT(binding(uneven, 48).text, HasSubstr("8 tasks of this node"));
  Environment others = {{"SLURM_NTASKS_PER_NODE", "8"}, {"SLURM_CPU_BIND", "none"}, {"OMP_NUM_THREADS", "12"}};
  EXPECT_FALSE(binding(others, 48).fits) << "nothing better is known";
  others["SLURM_TASKS_PER_NODE"] = "2";
  EXPECT_TRUE(binding(others, 48).fits);
  others["SLURM_STEP_TASKS_PER_NODE"] = "8";
  EXPECT_FALSE(binding(others, 48).fits);
  for (const char* odd : {"", ",", "(x3)", "many", "2(x", "9999999999"}) {
    EXPECT_TRUE(binding(step(odd, "none", "12"), 48).fits) << odd;
  }
}

TEST(ExamineSlurm, FindsTasksThatWillNotMeet) {
  const Environment lone{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}};
  const auto openmpi = examine_slurm(lone, 4, Mpi::openmpi);
  ASSERT_EQ(openmpi.size(), 2u);
  EXPECT_FALSE(openmpi[1].fits);
  EXPECT_THAT(openmpi[1].text, HasSubstr("srun --mpi=pmix"));
  EXPECT_THAT(examine_slurm(lone, 4, Mpi::mpich)[1].text, HasSubstr("srun --mpi=pmi2"));
  EXPECT_EQ(examine_slurm(lone, 4, Mpi::none).size(), 1u);
  EXPECT_EQ(examine_slurm({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}, 4, Mpi::mpich).size(), 2u)
      << "srun --ntasks=1 steelyard doctor asks for a job of more";
}

}  // namespace
}  // namespace steelyard::cli
