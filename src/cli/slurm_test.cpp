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
  EXPECT_TRUE(binding({{"OMP_NUM_THREADS", "6"}, {"SLURM_CPU_BIND", "none"}}, 6, 3).fits) << "shared with others";
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
