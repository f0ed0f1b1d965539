// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launcher.h"

#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

using Kind = Launcher::Kind;

TEST(FindLauncher, KnowsEachByItsVariables) {
  const auto none = find_launcher({});
  EXPECT_TRUE(none.is_alone_on_node());
  EXPECT_EQ(none.kind, Kind::none);
  EXPECT_EQ(none.rank, -1);
  EXPECT_TRUE(none.speaks());

  const auto openmpi =
      find_launcher({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}});
  EXPECT_EQ(openmpi.kind, Kind::openmpi);
  EXPECT_EQ(openmpi.rank, 3);
  EXPECT_EQ(openmpi.size, 4);
  EXPECT_FALSE(openmpi.speaks());

  const auto hydra = find_launcher({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMI_FD", "6"}, {"MPI_LOCALNRANKS", "2"}});
  EXPECT_EQ(hydra.kind, Kind::hydra);
  EXPECT_TRUE(hydra.speaks());

  EXPECT_EQ(find_launcher({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}}).kind, Kind::slurm);
  // srun, one task on each of four nodes; and three on this one
  const auto lone = find_launcher(
      {{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}, {"SLURM_NODEID", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "1(x4)"}});
  EXPECT_TRUE(lone.is_alone_on_node());
  const auto one_of_three = find_launcher(
      {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_NODEID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "1,3"}});
  EXPECT_EQ(one_of_three.ranks_on_node, 3);
  EXPECT_FALSE(one_of_three.is_alone_on_node());
  EXPECT_FALSE(find_launcher({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}}).is_alone_on_node()) << "not known";
  EXPECT_EQ(find_launcher({{"FLUX_TASK_RANK", "1"}, {"PMI_RANK", "1"}, {"PMI_FD", "6"}}).kind, Kind::flux);
}

TEST(FindLauncher, TakesTheInnermostInAJobScript) {
  const auto launcher =
      find_launcher({{"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}});
  EXPECT_EQ(launcher.kind, Kind::openmpi);
  EXPECT_EQ(launcher.rank, 2);
}

TEST(RecordName, HasTheBatchJob) {
  EXPECT_EQ(record_name({}), "steelyard-run.json");
  EXPECT_EQ(record_name({{"SLURM_JOB_ID", "512"}, {"SLURM_PROCID", "0"}}), "steelyard-run.512.json");
  EXPECT_EQ(record_name({{"PBS_JOBID", "77.head.example.org"}}), "steelyard-run.77.json");
  EXPECT_EQ(record_name({{"PBS_JOBID", "77[3].head"}}), "steelyard-run.77-3.json");
  EXPECT_EQ(record_name({{"LSB_JOBID", "9"}, {"LSB_JOBINDEX", "0"}}), "steelyard-run.9.json");
  EXPECT_EQ(record_name({{"LSB_JOBID", "9"}, {"LSB_JOBINDEX", "4"}}), "steelyard-run.9-4.json");
  EXPECT_EQ(record_name({{"FLUX_JOB_ID",
                          "\xC6\x92"
                          "2oTfy"},
                         {"SLURM_JOB_ID", "1"}}),
            "steelyard-run.2oTfy.json");
  EXPECT_EQ(record_name({{"SLURM_JOB_ID", "../x"}}), "steelyard-run.x.json");
}

TEST(FindLauncher, PassesOverWhatIsNoNumber) {
  EXPECT_EQ(find_launcher({{"OMPI_COMM_WORLD_RANK", "two"}, {"PMI_RANK", "1"}}).rank, 1);
  EXPECT_EQ(find_launcher({{"PMI_RANK", "-1"}}).rank, -1);
  EXPECT_EQ(find_launcher({{"PMI_RANK", "1 "}}).rank, -1);
  EXPECT_EQ(find_launcher({{"PMI_RANK", "99999999999"}}).rank, -1);
}

TEST(Launcher, TellsItsMpi) {
  using base::MpiFamily;
  EXPECT_EQ(mpi_of_launcher({}), MpiFamily::automatic);
  EXPECT_EQ(mpi_of_launcher({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "0"}}), MpiFamily::openmpi);
  EXPECT_EQ(mpi_of_launcher({{"PMI_RANK", "0"}, {"MPI_LOCALNRANKS", "4"}}), MpiFamily::mpich);
  EXPECT_EQ(mpi_of_launcher({{"SLURM_PROCID", "0"}}), MpiFamily::automatic) << "srun --mpi=none";
  EXPECT_EQ(mpi_of_launcher({{"SLURM_PROCID", "0"}, {"PMIX_RANK", "0"}}), MpiFamily::openmpi);
  EXPECT_EQ(mpi_of_launcher({{"SLURM_PROCID", "0"}, {"PMI_RANK", "0"}, {"PMI_FD", "5"}}), MpiFamily::mpich);
}

}  // namespace
}  // namespace steelyard::cli
