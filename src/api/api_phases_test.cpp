// SPDX-License-Identifier: BSD-3-Clause
// The phases of steelyard/phases.h under an MPI launcher, at any number of ranks.
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <vector>

#include "intercept/mpi/ranks_in_tests.h"
#include "steelyard/phases.h"

namespace {

bool two_nodes = false;    ///< ranks of even and odd numbers
bool split_fails = false;  ///< MPI_Comm_split_type returns an error
void let_rank_1_open_files(bool allowed);

}  // namespace

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  if (split_fails) return MPI_ERR_OTHER;
  if (!two_nodes) return PMPI_Comm_split_type(comm, type, key, info, made);
  let_rank_1_open_files(true);
  return PMPI_Comm_split(comm, steelyard::rank_of(comm) % 2, key, made);
}

namespace {

using steelyard::rank_of;
using steelyard::size_of;

std::string message() { return steelyard_message(); }
std::string text_of(const steelyard_cpuset_t& cpus) {
  char text[256];
  steelyard_cpuset_format(&cpus, text, sizeof(text));
  return text;
}

class Phases : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(steelyard_node_create(MPI_COMM_WORLD, &node), STEELYARD_SUCCESS) << message(); }
  void TearDown() override { steelyard_node_free(node); }
  int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  steelyard_node_t* node = nullptr;
};

TEST_F(Phases, TheContextIsTheNode) {
  EXPECT_EQ(steelyard_node_size(node), ranks);
  EXPECT_EQ(steelyard_node_rank(node), rank);
  int machines = 0, cores = 0, cores_in = 0, pus = 0;
  EXPECT_EQ(steelyard_node_count_resources(node, STEELYARD_MACHINE, &machines), STEELYARD_SUCCESS);
  EXPECT_EQ(machines, 1);
  EXPECT_EQ(steelyard_node_count_resources(node, STEELYARD_CORE, &cores), STEELYARD_SUCCESS);
  EXPECT_EQ(steelyard_node_count_resources_in(node, STEELYARD_MACHINE, 0, STEELYARD_CORE, &cores_in),
            STEELYARD_SUCCESS);
  EXPECT_EQ(cores, cores_in);
  steelyard_machine_info_t machine;
  EXPECT_EQ(steelyard_node_get_machine(node, &machine), STEELYARD_SUCCESS);
  EXPECT_GE(machine.threads_per_core, 1);
  EXPECT_EQ(steelyard_node_count_resources(node, STEELYARD_PU, &pus), STEELYARD_SUCCESS);
  EXPECT_LE(cores, pus);
  EXPECT_FALSE(text_of(machine.job_cpuset).empty());
  for (int process = 0; process < ranks; ++process) {
    steelyard_process_info_t found;
    ASSERT_EQ(steelyard_node_get_process(node, process, &found), STEELYARD_SUCCESS);
    EXPECT_EQ(found.rank, process);
    EXPECT_EQ(text_of(found.initial_cpuset), text_of(found.current_cpuset));
    if (process == rank) {
      EXPECT_EQ(found.pid, getpid());
    }
  }
}

TEST_F(Phases, EachResourceHasAtMostSoManyAtWork) {
  for (const int at_most : {1, 2, 3}) {
    int chosen = -1, all = 0;
    ASSERT_EQ(steelyard_node_distribute(node, STEELYARD_MACHINE, at_most, &chosen), STEELYARD_SUCCESS);
    MPI_Allreduce(&chosen, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(all, std::min(at_most, ranks));
  }
}

TEST_F(Phases, TheOthersSleepWhileTheChosenWorks) {
  steelyard_phase_t* phase = nullptr;
  ASSERT_EQ(steelyard_phase_create(node, STEELYARD_MACHINE, 1, &phase), STEELYARD_SUCCESS);
  const auto cpu_ms = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return 1000.0 * static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-3 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  int chosen = 0, working = 0;
  ASSERT_EQ(steelyard_phase_enter(phase, &chosen), STEELYARD_SUCCESS) << message();
  const double before = cpu_ms();
  if (chosen) usleep(200'000);
  ASSERT_EQ(steelyard_phase_leave(phase), STEELYARD_SUCCESS) << message();
  EXPECT_LT(cpu_ms() - before, 30);
  MPI_Allreduce(&chosen, &working, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(working, 1);
  steelyard_phase_free(phase);
}

TEST_F(Phases, DataComeTogetherAndGoHome) {
  steelyard_phase_t* phase = nullptr;
  ASSERT_EQ(steelyard_phase_create(node, STEELYARD_MACHINE, 2, &phase), STEELYARD_SUCCESS);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> mine(static_cast<std::size_t>((rank + 1) * (1 << (round % 15))), rank);
    steelyard_view_t all, back;
    ASSERT_EQ(steelyard_phase_gather(phase, mine.data(), mine.size() * sizeof(double), &all), STEELYARD_SUCCESS);
    auto* data = static_cast<double*>(all.data);
    std::size_t total = 0;
    for (int part = 0; part < all.parts; ++part) total += all.sizes[part] / sizeof(double);
    int chosen = 0;
    ASSERT_EQ(steelyard_phase_enter(phase, &chosen), STEELYARD_SUCCESS);
    EXPECT_EQ(chosen != 0, all.parts > 0);
    if (chosen) {
#pragma omp parallel for
      for (std::size_t i = 0; i < total; ++i) data[i] = 2 * data[i] + round;
    }
    ASSERT_EQ(steelyard_phase_leave(phase), STEELYARD_SUCCESS) << message();
    ASSERT_EQ(steelyard_phase_scatter(phase, all.data, all.sizes, &back), STEELYARD_SUCCESS);
    ASSERT_EQ(back.sizes[0], mine.size() * sizeof(double));
    for (std::size_t i = 0; i < mine.size(); ++i) ASSERT_EQ(static_cast<double*>(back.data)[i], 2 * rank + round);
  }
  steelyard_phase_free(phase);
}

TEST_F(Phases, ThePushReachesWorkersThatExist) {
  const int threads = 2;
  const auto team_on = [](int cpu) {
    int there = 0;
#pragma omp parallel reduction(+ : there)
    {
      cpu_set_t set;
      sched_getaffinity(0, sizeof(set), &set);
      there += CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set) ? 1 : 0;
    }
    return there;
  };
  omp_set_num_threads(threads);
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof(before), &before);
  steelyard_cpuset_t core;
  ASSERT_EQ(steelyard_node_get_cpuset(node, STEELYARD_PU, 0, &core), STEELYARD_SUCCESS);
  const int cpu = std::stoi(text_of(core));
  team_on(cpu);  // now they exist
  ASSERT_EQ(steelyard_binding_push_cpuset(node, &core, STEELYARD_THREADS_KEEP), STEELYARD_SUCCESS) << message();
  EXPECT_EQ(team_on(cpu), threads);
  EXPECT_EQ(omp_get_max_threads(), threads);
  ASSERT_EQ(steelyard_binding_push_enclosing(node, STEELYARD_MACHINE, 3), STEELYARD_SUCCESS);
  EXPECT_EQ(omp_get_max_threads(), 3);
  ASSERT_EQ(steelyard_binding_pop(node), STEELYARD_SUCCESS);
  EXPECT_EQ(omp_get_max_threads(), threads);
  EXPECT_EQ(team_on(cpu), threads) << "back on the one core";
  ASSERT_EQ(steelyard_binding_pop(node), STEELYARD_SUCCESS);
  sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  if (CPU_COUNT(&before) > 1) {
    EXPECT_EQ(team_on(cpu), 0);
  }
}

TEST_F(Phases, MistakesAreSentencesAndHarmNoRank) {
  steelyard_node_t* none = nullptr;
  steelyard_phase_t* phase = nullptr;
  int value = 7;
  steelyard_status_t expected = STEELYARD_ERROR_INVALID_ARGUMENT;
  const auto says = [&expected](steelyard_status_t status, const char* words) {
    EXPECT_EQ(status, expected) << words;
    EXPECT_NE(message().find(words), std::string::npos) << message();
  };
  says(steelyard_node_create(MPI_COMM_NULL, &none), "MPI_COMM_NULL");
  EXPECT_EQ(none, nullptr);
  says(steelyard_phase_create(node, STEELYARD_NUMA, 0, &phase), "1 or more");
  says(steelyard_phase_create(node, STEELYARD_NUMA, -3, &phase), "1 or more");
  says(steelyard_node_distribute(node, static_cast<steelyard_resource_t>(17), 1, &value), "not a type");
  EXPECT_EQ(value, 0);
  says(steelyard_node_barrier(nullptr), "null handle");
  says(steelyard_node_count_resources_in(node, STEELYARD_CORE, 9999, STEELYARD_PU, &value), "counted from 0");
  steelyard_process_info_t process;
  says(steelyard_node_get_process(node, ranks, &process), "no process");
  says(steelyard_binding_push_enclosing(node, STEELYARD_CORE, -5), "the thread count is -5");
  steelyard_cpuset_t nothing = {};
  says(steelyard_binding_push_cpuset(node, &nothing, 1), "not among those");
  ASSERT_EQ(steelyard_phase_create(node, STEELYARD_L3, 1, &phase), STEELYARD_SUCCESS) << "where there is no L3, too";
  expected = STEELYARD_ERROR_INVALID_STATE;
  says(steelyard_binding_pop(node), "without a push");
  says(steelyard_phase_leave(phase), "not entered");
  int chosen = 0;
  ASSERT_EQ(steelyard_phase_enter(phase, &chosen), STEELYARD_SUCCESS);
  says(steelyard_phase_enter(phase, &value), "not left");
  says(steelyard_node_barrier(node), "not left");
  expected = STEELYARD_ERROR_INVALID_ARGUMENT;
  ASSERT_EQ(steelyard_phase_leave(phase), STEELYARD_SUCCESS);
  steelyard_phase_free(phase);
  steelyard_phase_free(nullptr);
  const steelyard_phase_bounds_t bounds = {ranks + 1, 0, 0, 0};
  says(steelyard_phase_create_autotuned(node, &bounds, &phase), "widen");
  const steelyard_phase_bounds_t negative = {1, 0, -1, 0};
  says(steelyard_phase_create_autotuned(node, &negative, &phase), "of 0 to -1 threads");
}

TEST_F(Phases, WhoCallsSomethingElseIsNamedAtAllRanksAtOnce) {
  if (ranks < 2) GTEST_SKIP() << "takes two";
  // Messages name ranks of MPI_COMM_WORLD, whatever the context was made of.
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  steelyard_node_t* other_way = nullptr;
  ASSERT_EQ(steelyard_node_create(reversed, &other_way), STEELYARD_SUCCESS) << message();
  MPI_Comm_free(&reversed);
  steelyard_phase_t *one = nullptr, *two = nullptr;
  ASSERT_EQ(steelyard_phase_create(other_way, STEELYARD_MACHINE, 1, &one), STEELYARD_SUCCESS);
  ASSERT_EQ(steelyard_phase_create(other_way, STEELYARD_MACHINE, 2, &two), STEELYARD_SUCCESS);
  const auto pass = [](steelyard_phase_t* phase) {
    int chosen = 0;
    const steelyard_status_t entered = steelyard_phase_enter(phase, &chosen);
    return entered == STEELYARD_SUCCESS ? steelyard_phase_leave(phase) : entered;
  };
  for (int round = 0; round < 4 * ranks; ++round) {
    const bool differs = round / 4 == rank;
    if (differs == (round % 2 == 0)) usleep(5000);
    const steelyard_status_t status = !differs        ? pass(one)
                                      : round % 4 < 2 ? pass(two)
                                                      : steelyard_node_barrier(other_way);
    EXPECT_EQ(status, STEELYARD_ERROR_MISMATCH);
    EXPECT_NE(message().find("rank " + std::to_string(round / 4) + " calls "), std::string::npos) << message();
    EXPECT_NE(message().find(round % 4 < 2 ? "another phase" : "steelyard_node_barrier()"), std::string::npos)
        << message();
    EXPECT_EQ(pass(round % 3 == 0 ? two : one), STEELYARD_SUCCESS) << message();
    EXPECT_EQ(steelyard_node_barrier(other_way), STEELYARD_SUCCESS) << message();
  }
  steelyard_phase_free(one);
  steelyard_phase_free(two);
  steelyard_node_free(other_way);
}

TEST_F(Phases, APopInAPhaseOfWhatLiesBelowItIsRefusedAtOnce) {
  steelyard_phase_t* phase = nullptr;
  int chosen = 0;
  ASSERT_EQ(steelyard_phase_create(node, STEELYARD_MACHINE, 1, &phase), STEELYARD_SUCCESS);
  ASSERT_EQ(steelyard_binding_push_enclosing(node, STEELYARD_MACHINE, STEELYARD_THREADS_KEEP), STEELYARD_SUCCESS);
  ASSERT_EQ(steelyard_phase_enter(phase, &chosen), STEELYARD_SUCCESS);
  for (int pops = 0; pops < 2; ++pops) {
    EXPECT_EQ(steelyard_binding_pop(node), STEELYARD_ERROR_INVALID_STATE);
    EXPECT_NE(message().find("a pop in a phase"), std::string::npos) << message();
  }
  EXPECT_EQ(steelyard_phase_leave(phase), STEELYARD_SUCCESS) << message();
  EXPECT_EQ(steelyard_binding_pop(node), STEELYARD_SUCCESS) << message();
  steelyard_phase_free(phase);
}

TEST_F(Phases, AnIntercommunicatorIsRefused) {
  if (ranks < 2) GTEST_SKIP() << "takes two";
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 5, &inter);
  steelyard_node_t* none = nullptr;
  EXPECT_EQ(steelyard_node_create(inter, &none), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(message().find("inter-communicator"), std::string::npos);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/// Rank 1 cannot open another file, as where it had run out of them.
void let_rank_1_open_files(bool allowed) {
  static rlimit normal;
  if (rank_of(MPI_COMM_WORLD) != 1) return;
  if (!allowed) getrlimit(RLIMIT_NOFILE, &normal);
  const rlimit none = {0, normal.rlim_max};
  setrlimit(RLIMIT_NOFILE, allowed ? &normal : &none);
}

TEST_F(Phases, NoRankGetsAContextWhereOneCannot) {
  if (ranks < 2) GTEST_SKIP() << "rank 1 is the one that cannot";
  steelyard_node_t* another = node;
  let_rank_1_open_files(false);
  EXPECT_EQ(steelyard_node_create(MPI_COMM_WORLD, &another), rank == 1 ? STEELYARD_ERROR_SYSTEM : STEELYARD_ERROR_PEER);
  let_rank_1_open_files(true);
  EXPECT_NE(message().find("shared memory of"), std::string::npos) << message();
  EXPECT_EQ(another, nullptr);
  EXPECT_EQ(steelyard_node_create(MPI_COMM_WORLD, &another), STEELYARD_SUCCESS) << message();
  steelyard_node_free(another);
}

#ifdef MPICH_VERSION
TEST_F(Phases, NodesOfTheSameNumberAreToldApart) {
  if (ranks < 2) GTEST_SKIP() << "one rank is one node";
  steelyard_node_t* half = nullptr;
  let_rank_1_open_files(false);  // what is a file of another node
  two_nodes = true;
  EXPECT_EQ(steelyard_node_create(MPI_COMM_WORLD, &half), STEELYARD_SUCCESS) << message();
  two_nodes = false;
  EXPECT_EQ(steelyard_node_size(half), (ranks + 1 - rank % 2) / 2);
  EXPECT_EQ(steelyard_node_barrier(half), STEELYARD_SUCCESS) << message();
  steelyard_node_free(half);
}
#endif

TEST_F(Phases, ContextsOfManyLibrariesLiveTogether) {
  std::vector<steelyard_node_t*> nodes(8);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ASSERT_EQ(steelyard_node_create(i % 2 ? part : MPI_COMM_WORLD, &nodes[i]), STEELYARD_SUCCESS);
  }
  EXPECT_EQ(steelyard_node_size(nodes[1]), size_of(part));
  MPI_Comm_free(&part);
  for (const std::size_t i : {3, 0, 7, 2, 1, 6, 4}) {
    ASSERT_EQ(steelyard_node_barrier(nodes[i]), STEELYARD_SUCCESS);
    steelyard_node_free(nodes[i]);
  }
  ASSERT_EQ(steelyard_node_quiesce(nodes[5]), STEELYARD_SUCCESS);
  steelyard_node_free(nodes[5]);
}

TEST_F(Phases, ACommunicatorForEachResource) {
  MPI_Comm part;
  ASSERT_EQ(steelyard_node_split(node, MPI_COMM_WORLD, STEELYARD_MACHINE, &part), STEELYARD_SUCCESS);
  EXPECT_EQ(size_of(part), ranks);
  MPI_Comm_free(&part);
  split_fails = true;
  EXPECT_EQ(steelyard_node_split(node, MPI_COMM_WORLD, STEELYARD_MACHINE, &part), STEELYARD_ERROR_MPI);
  split_fails = false;
  EXPECT_EQ(part, MPI_COMM_NULL);
  EXPECT_NE(message().find("the split of the communicator by resources failed: "), std::string::npos) << message();
  EXPECT_EQ(steelyard_node_split(node, MPI_COMM_NULL, STEELYARD_MACHINE, &part), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(steelyard_node_split(nullptr, MPI_COMM_WORLD, STEELYARD_MACHINE, &part), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(steelyard_node_split(node, MPI_COMM_WORLD, STEELYARD_MACHINE, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);
}

TEST_F(Phases, AnAutotunedPhaseSettles) {
  steelyard_phase_t* phase = nullptr;
  const steelyard_phase_bounds_t bounds = STEELYARD_PHASE_BOUNDS_DEFAULT;
  ASSERT_EQ(steelyard_phase_create_autotuned(node, &bounds, &phase), STEELYARD_SUCCESS) << message();
  steelyard_phase_configuration_t configuration;
  bool settled = false;  // a disturbed run may open the contest again
  for (int run = 0; run < 300 && (run < 30 || !settled); ++run) {
    int chosen = 0;
    ASSERT_EQ(steelyard_phase_enter(phase, &chosen), STEELYARD_SUCCESS);
    ASSERT_EQ(steelyard_phase_get_configuration(phase, &configuration), STEELYARD_SUCCESS);
    EXPECT_EQ(chosen, configuration.chosen);
    settled = settled || configuration.settled == 1;
    if (chosen) usleep(static_cast<useconds_t>(1000 * configuration.processes));
    ASSERT_EQ(steelyard_phase_leave(phase), STEELYARD_SUCCESS);
  }
  ASSERT_EQ(steelyard_phase_get_configuration(phase, &configuration), STEELYARD_SUCCESS);
  EXPECT_TRUE(settled);
  int lowest = 0, highest = 0;
  MPI_Allreduce(&configuration.processes, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&configuration.processes, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(lowest, highest);
  steelyard_phase_free(phase);
}

}  // namespace
