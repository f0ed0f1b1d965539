// SPDX-License-Identifier: BSD-3-Clause
#include "cli/gathering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace steelyard::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Of this process and test alone.
std::string name() { return std::to_string(getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name(); }

TEST(Gathering, BringsTheTextsOfAllRanksToTheFirst) {
  std::atomic<bool> printed = false;
  const auto sends = [&](int rank, const std::string& text) {
    return std::thread([&, rank, text] {
      Gathering gathering(name(), rank, 3);
      EXPECT_THAT(gathering.gather(text, 30s), IsEmpty());
      EXPECT_TRUE(printed) << "mpirun ends all ranks when one has failed: none may end before that";
    });
  };
  auto early = sends(1, "one"), late = sends(2, std::string(1 << 20, 'x'));
  {
    Gathering first(name(), 0, 3);
    EXPECT_THAT(first.gather("zero", 30s), UnorderedElementsAre("zero", "one", std::string(1 << 20, 'x')));
    printed = true;
    first.finish();
  }
  early.join();
  late.join();
}

TEST(Gathering, DoesNotWaitForEverForRanksThatDoNotCome) {
  Gathering first(name(), 0, 3);
  EXPECT_THAT(first.gather("zero", 1ms), ElementsAre("zero"));
}

TEST(Gathering, LeavesARankItsTextIfTheFirstIsAbsentOrEnds) {
  EXPECT_THAT(Gathering(name(), 1, 2).gather("one", 1ms), ElementsAre("one"));
  std::thread other;
  {
    Gathering first(name(), 0, 2);
    other = std::thread([] { EXPECT_THAT(Gathering(name(), 1, 2).gather("one", 30s), ElementsAre("one")); });
    EXPECT_THAT(first.gather("zero", 30s), ElementsAre("zero", "one"));
  }
  other.join();
}

TEST(Gathering, IsOfOneJob) {
  Gathering first(name(), 0, 2);
  EXPECT_THAT(Gathering(name() + "other", 1, 2).gather("one", 1ms), ElementsAre("one"));
  EXPECT_THAT(Gathering("", 1, 2).gather("one", 30s), ElementsAre("one"));
  EXPECT_THAT(Gathering(name(), -1, 2).gather("one", 30s), ElementsAre("one"));
  EXPECT_THAT(Gathering(name(), 0, 1).gather("one", 30s), ElementsAre("one"));
}

TEST(Gathering, NamesAJobByWhatItsLauncherTells) {
  const auto named = [](const base::Environment& environment) {
    return name_on_node(environment, find_launcher(environment));
  };
  EXPECT_EQ(named({}), "");
  EXPECT_EQ(named({{"OMPI_COMM_WORLD_SIZE", "2"}}), "");
  EXPECT_EQ(named({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_NAMESPACE", "7"}}), "openmpi 7");
  EXPECT_EQ(named({{"PMI_RANK", "1"}, {"MPI_LOCALNRANKS", "2"}}), "") << "no proxy above";
  EXPECT_EQ(named({{"SLURM_PROCID", "1"}, {"SLURM_JOB_ID", "5"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NODEID", "1"}}),
            "slurm 5.0 1");
  EXPECT_EQ(named({{"SLURM_PROCID", "1"}}), "") << "every such job would have this name";
}

}  // namespace
}  // namespace steelyard::cli
