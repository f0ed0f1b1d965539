// SPDX-License-Identifier: BSD-3-Clause
// The tasks of steelyard/tasks.h under an MPI launcher: any number of ranks, in nodes of any size.
#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "intercept/mpi/ranks_in_tests.h"
#include "steelyard/tasks.h"

namespace {

using steelyard::rank_of;
using steelyard::size_of;

std::uint64_t sum_over_ranks(std::uint64_t mine) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
std::string message() { return steelyard_message(); }

/// The result is the input, reversed, behind its tag: of any size, and wrong wherever bytes get lost or mixed up.
int reverse(steelyard_task_t* task, void*) {
  const char* input = static_cast<const char*>(task->data);
  std::string result(reinterpret_cast<const char*>(&task->tag), sizeof(task->tag));
  result.append(std::make_reverse_iterator(input + task->size), std::make_reverse_iterator(input));
  if (task->tag % 50 == 0) usleep(2000);
  if (task->tag % 97 == 0) steelyard_task_yield(task);
  steelyard_task_set_result(task, result.data(), result.size());
  return 0;
}
int fail_in_many_ways(steelyard_task_t* task, void*) {
  if (task->tag % 3 == 0) return 7;
  if (task->tag % 3 == 1) steelyard_task_fail(task, "the oven is cold");
  return 0;
}
/// A tree: `input` levels below, three tasks each; leaves alone have results.
int grow(steelyard_task_t* task, void*) {
  int levels = 0;
  std::memcpy(&levels, task->data, sizeof(levels));
  if (levels == 0) return steelyard_task_spawn(task, 3, task->tag, nullptr, 0) == STEELYARD_SUCCESS ? 0 : 1;
  --levels;
  for (int i = 0; i < 3; ++i) {
    if (steelyard_task_spawn(task, 2, task->tag * 3 + static_cast<std::uint64_t>(i), &levels, sizeof(levels)) != 0)
      return 1;
  }
  return 0;
}
int leaf(steelyard_task_t*, void*) { return 0; }

const steelyard_task_type_t kTypes[] = {{"reverse", reverse, nullptr, 1},
                                        {"fail", fail_in_many_ways, nullptr, 1},
                                        {"grow", grow, nullptr, 0},
                                        {"leaf", leaf, nullptr, 1}};

struct Seen {
  std::map<std::uint64_t, int> times;
  std::map<std::uint64_t, std::string> inputs;
  std::map<std::uint64_t, std::string> messages;
};
void keep(const steelyard_task_result_t* result, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  ++seen.times[result->tag];
  EXPECT_EQ(result->status, result->message == nullptr ? STEELYARD_SUCCESS : STEELYARD_ERROR_TASK_FAILED);
  if (result->message != nullptr) seen.messages[result->tag] = result->message;
  if (result->type != 0 || result->message != nullptr) return;
  std::string expected(reinterpret_cast<const char*>(&result->tag), sizeof(result->tag));
  const std::string& input = seen.inputs[result->tag];
  expected.append(input.rbegin(), input.rend());
  EXPECT_EQ(expected, std::string(static_cast<const char*>(result->data), result->size)) << result->tag;
}

/// One pool for many tests, as for many steps: by how many ranks make a node; 0: as they are.
std::map<int, steelyard_task_pool_t*> g_pools;

class Pools final : public testing::Environment {
  void TearDown() override {
    for (const auto& [a_node, pool] : g_pools)
      EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS) << message();
  }
};
const auto* const g_environment = testing::AddGlobalTestEnvironment(new Pools);

class Tasks : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
    options.ranks_per_node = GetParam();
    if (g_pools[GetParam()] == nullptr) {
      ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, &options, &g_pools[GetParam()]),
                STEELYARD_SUCCESS)
          << message();
    }
    pool = g_pools[GetParam()];
    before = statistics();
  }
  void spawn(std::uint64_t tag, std::size_t bytes) {
    std::string input(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i)
      input[i] = static_cast<char>(tag * 31 + i * 7 + static_cast<std::size_t>(rank));
    EXPECT_EQ(steelyard_task_pool_spawn(pool, 0, tag, input.data(), bytes), STEELYARD_SUCCESS) << message();
    seen.inputs[tag] = std::move(input);
  }
  void run() { ASSERT_EQ(steelyard_task_pool_run(pool, keep, &seen), STEELYARD_SUCCESS) << message(); }
  void expect_each_once(std::uint64_t count) {
    EXPECT_EQ(seen.times.size(), count);
    for (const auto& [tag, times] : seen.times) EXPECT_EQ(times, 1) << "result " << tag;
  }
  steelyard_task_pool_statistics_t statistics() {
    steelyard_task_pool_statistics_t all;
    EXPECT_EQ(steelyard_task_pool_get_statistics(pool, &all), STEELYARD_SUCCESS);
    return all;
  }
  int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  steelyard_task_pool_t* pool = nullptr;
  steelyard_task_pool_statistics_t before{};
  Seen seen;
};

TEST_P(Tasks, EveryResultReturnsOnceFromAnyOwner) {
  for (const int owner : {0, ranks - 1, -1}) {
    seen = {};
    const bool mine = owner < 0 || owner == rank;
    const std::uint64_t count = mine ? 600 : 0;
    for (std::uint64_t tag = 0; tag < count; ++tag) spawn(tag, tag % 40 == 0 ? 20'000 : tag % 120);
    run();
    expect_each_once(count);
  }
  const auto all = statistics();
  EXPECT_EQ(all.runs - before.runs, 3u);
  EXPECT_LE(all.connections, all.degree);
  EXPECT_EQ(sum_over_ranks(all.spawned), sum_over_ranks(all.executed));
}

TEST_P(Tasks, ARunWithoutTasksEnds) {
  for (int i = 0; i < 20; ++i) run();
  expect_each_once(0);
}

TEST_P(Tasks, StepsOfAnyKindFollowEachOther) {
  for (int step = 0; step < 30; ++step) {
    seen = {};
    const std::uint64_t count = static_cast<std::uint64_t>((rank * 13 + step * 7) % 40);
    if ((rank + step) % 5 == 0) usleep(1000);  // a rank is late
    for (std::uint64_t tag = 1; tag <= count; ++tag) spawn(tag, static_cast<std::size_t>(step) * 20);
    run();
    expect_each_once(count);
  }
}

TEST_P(Tasks, FailuresComeHomeWithTheirSentence) {
  for (std::uint64_t tag = 0; tag < 30; ++tag) steelyard_task_pool_spawn(pool, 1, tag, nullptr, 0);
  run();
  expect_each_once(30);
  EXPECT_EQ(seen.messages.size(), 20u);
  EXPECT_EQ(seen.messages[3], "a task of type \"fail\" ended with status 7");
  EXPECT_EQ(seen.messages[4], "the oven is cold");
}

TEST_P(Tasks, TasksSpawnTasksWhoseResultsGoToTheFirstOwner) {
  const int levels = 6;
  if (rank == ranks - 1) {
    ASSERT_EQ(steelyard_task_pool_spawn(pool, 2, 0, &levels, sizeof(levels)), STEELYARD_SUCCESS);
  }
  run();
  expect_each_once(rank == ranks - 1 ? 729 : 0);
}

TEST_P(Tasks, AConsumerMaySpawn) {
  struct Chain {
    steelyard_task_pool_t* pool;
    int left;
  } chain{pool, 50};
  steelyard_task_pool_spawn(pool, 3, 0, nullptr, 0);
  ASSERT_EQ(steelyard_task_pool_run(
                pool,
                [](const steelyard_task_result_t*, void* user) {
                  auto& all = *static_cast<Chain*>(user);
                  EXPECT_EQ(steelyard_task_pool_run(all.pool, nullptr, nullptr), STEELYARD_ERROR_INVALID_STATE);
                  if (--all.left > 0) steelyard_task_pool_spawn(all.pool, 3, 0, nullptr, 0);
                },
                &chain),
            STEELYARD_SUCCESS);
  EXPECT_EQ(chain.left, 0);
}

TEST_P(Tasks, InputsAndResultsMayBeLarge) {
  if (rank == 0) {
    for (std::uint64_t tag = 1; tag < 20; ++tag) spawn(tag, tag * 100'000);
  }
  run();
  expect_each_once(rank == 0 ? 19 : 0);
}

TEST_P(Tasks, BadCallsAreAnsweredWithASentence) {
  EXPECT_EQ(steelyard_task_pool_spawn(pool, 4, 0, nullptr, 0), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(message().find("there is no task type 4: this pool has 4"), std::string::npos);
  EXPECT_EQ(steelyard_task_pool_spawn(pool, 0, 0, nullptr, 5), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "the data of a task are null, with 5 bytes: pass the data, or 0 bytes");
  EXPECT_EQ(steelyard_task_pool_spawn(pool, 0, 0, "", std::size_t{1} << 40), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(message().find("divide the task"), std::string::npos);
  EXPECT_EQ(steelyard_task_pool_spawn(nullptr, 0, 0, nullptr, 0), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(steelyard_task_pool_run(nullptr, nullptr, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);
  run();
  expect_each_once(0);
}

/// Calls that are wrong in a task or a consumer, and what they say there.
struct Wrong {
  steelyard_task_pool_t* pool;
  steelyard_task_t saved;
  int calls;
} g_wrong;
void expect_refused(steelyard_status_t status, steelyard_status_t expected, const char* part) {
  EXPECT_EQ(status, expected) << part;
  EXPECT_NE(message().find(part), std::string::npos) << message();
  ++g_wrong.calls;
}
int call_wrongly(steelyard_task_t* task, void*) {
  expect_refused(steelyard_task_pool_free(g_wrong.pool), STEELYARD_ERROR_INVALID_STATE, "free it after the run");
  expect_refused(steelyard_task_pool_run(g_wrong.pool, nullptr, nullptr), STEELYARD_ERROR_INVALID_STATE,
                 "in a run already");
  expect_refused(steelyard_task_pool_spawn(g_wrong.pool, 0, 0, nullptr, 0), STEELYARD_ERROR_INVALID_STATE,
                 "call steelyard_task_spawn()");
  expect_refused(steelyard_task_spawn(task, 0, 0, nullptr, 8), STEELYARD_ERROR_INVALID_ARGUMENT,
                 "the data of a task are null, with 8 bytes");
  expect_refused(steelyard_task_set_result(task, nullptr, 8), STEELYARD_ERROR_INVALID_ARGUMENT,
                 "the result of a task is null, with 8 bytes");
  expect_refused(steelyard_task_set_result(nullptr, "", 1), STEELYARD_ERROR_INVALID_ARGUMENT, "null task");
  g_wrong.saved = *task;
  return 0;
}

TEST(Pool, IsThereAfterCallsThatWereRefusedInATask) {
  const steelyard_task_type_t type{"call wrongly", call_wrongly, nullptr, 1};
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.policy = "none";  // tasks of each rank's own
  g_wrong = {};
  ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, &type, 1, &options, &g_wrong.pool), STEELYARD_SUCCESS)
      << message();
  const auto consumer = [](const steelyard_task_result_t* result, void*) {
    EXPECT_EQ(result->message, nullptr);
    expect_refused(steelyard_task_pool_free(g_wrong.pool), STEELYARD_ERROR_INVALID_STATE, "free it after the run");
  };
  for (int step = 1; step <= 2; ++step) {
    ASSERT_EQ(steelyard_task_pool_spawn(g_wrong.pool, 0, 0, nullptr, 0), STEELYARD_SUCCESS) << message();
    ASSERT_EQ(steelyard_task_pool_run(g_wrong.pool, consumer, nullptr), STEELYARD_SUCCESS) << message();
    EXPECT_EQ(g_wrong.calls, 7 * step);
  }
  expect_refused(steelyard_task_set_result(&g_wrong.saved, "", 1), STEELYARD_ERROR_INVALID_STATE,
                 "a task that has ended");
  expect_refused(steelyard_task_spawn(&g_wrong.saved, 0, 0, nullptr, 0), STEELYARD_ERROR_INVALID_STATE,
                 "a task that has ended");
  expect_refused(steelyard_task_pool_get_statistics(g_wrong.pool, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT,
                 "null statistics");
  EXPECT_EQ(steelyard_task_pool_free(g_wrong.pool), STEELYARD_SUCCESS) << message();
  expect_refused(steelyard_task_pool_help(nullptr), STEELYARD_ERROR_INVALID_ARGUMENT, "null pool");
  expect_refused(steelyard_task_pool_get_statistics(nullptr, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT, "null pool");
  EXPECT_EQ(steelyard_task_pool_free(nullptr), STEELYARD_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(InNodesOf, Tasks, testing::Values(0, 1, 2));

TEST(Pool, IsRefusedWhereRanksMeanDifferentThings) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  steelyard_task_type_t types[] = {kTypes[0], kTypes[1]};
  if (rank == ranks - 1) std::swap(types[0], types[1]);
  steelyard_task_pool_t* pool = nullptr;
  if (ranks > 1) {
    EXPECT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, types, 2, nullptr, &pool),
              rank == ranks - 1 ? STEELYARD_ERROR_MISMATCH : STEELYARD_ERROR_PEER);
    EXPECT_EQ(pool, nullptr);
    if (rank == ranks - 1) {
      EXPECT_NE(message().find("registers the task functions \"fail, reverse\", rank 0 \"reverse, fail\""),
                std::string::npos)
          << message();
    }
  }
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  if (rank == 0) options.policy = "luck";
  EXPECT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, &options, &pool),
            rank == 0 ? STEELYARD_ERROR_INVALID_ARGUMENT : STEELYARD_ERROR_PEER);
  EXPECT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 0, nullptr, &pool), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(steelyard_task_pool_create(MPI_COMM_NULL, kTypes, 4, nullptr, &pool), STEELYARD_ERROR_INVALID_ARGUMENT);
}

TEST(Pool, IsRefusedEverywhereWhereOneRankAloneIsWrong) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const auto expect_refused = [&](const steelyard_task_pool_options_t& mine, steelyard_status_t expected_here,
                                  const char* part) {
    steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
    if (rank == ranks - 1) options = mine;
    steelyard_task_pool_t* pool = nullptr;
    EXPECT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, &options, &pool),
              rank == ranks - 1 ? expected_here : STEELYARD_ERROR_PEER)
        << part;
    EXPECT_EQ(pool, nullptr);
    const char* expected = rank == ranks - 1 ? part : "another rank cannot create the task pool";
    EXPECT_NE(message().find(expected), std::string::npos) << message();
  };
  expect_refused({0, nullptr, 0, 0, 0}, STEELYARD_ERROR_INVALID_ARGUMENT, "threads = 0: use 1 or more");
  expect_refused({1, nullptr, 7, 0, 0}, STEELYARD_ERROR_INVALID_ARGUMENT, "fraction = 7: use");
  expect_refused({1, nullptr, 0, -4, 0}, STEELYARD_ERROR_INVALID_ARGUMENT, "degree = -4: use");
  expect_refused({1, nullptr, 0, 0, -1}, STEELYARD_ERROR_INVALID_ARGUMENT, "ranks_per_node = -1: use");
  steelyard_task_pool_t* pool = nullptr;
  EXPECT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, nullptr, rank == ranks - 1 ? nullptr : &pool),
            rank == ranks - 1 ? STEELYARD_ERROR_INVALID_ARGUMENT : STEELYARD_ERROR_PEER);
  if (ranks == 1) return;
  expect_refused({1, "none", 0, 0, 0}, STEELYARD_ERROR_MISMATCH, "another policy than rank 0");
  expect_refused({1, nullptr, 0.5, 0, 0}, STEELYARD_ERROR_MISMATCH, "fraction 0.5");
  expect_refused({1, nullptr, 0, 3, 0}, STEELYARD_ERROR_MISMATCH, "degree 3");
  expect_refused({1, nullptr, 0, 0, 1}, STEELYARD_ERROR_MISMATCH, "ranks_per_node 1");
}

TEST(Pool, WhoLeavesEarlyIsNotWaitedFor) {
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  for (const int a_node : {0, 1}) {
    options.ranks_per_node = a_node;
    steelyard_task_pool_t* pool = nullptr;
    ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, &options, &pool), STEELYARD_SUCCESS);
    if (ranks > 1 && rank != ranks - 1) {
      EXPECT_EQ(steelyard_task_pool_run(pool, nullptr, nullptr), STEELYARD_ERROR_PEER);
      EXPECT_NE(message().find("has freed the task pool"), std::string::npos) << message();
      EXPECT_EQ(steelyard_task_pool_run(pool, nullptr, nullptr), STEELYARD_ERROR_PEER);
      EXPECT_NE(message().find(std::to_string(ranks - 1) + " has freed the task pool"), std::string::npos) << "again";
    }
    // A rank that has left out a run of the others gets the error, too.
    const bool left_out = ranks > 1 && rank == ranks - 1;
    EXPECT_EQ(steelyard_task_pool_free(pool), left_out ? STEELYARD_ERROR_INVALID_STATE : STEELYARD_SUCCESS)
        << message();
    if (left_out) {
      EXPECT_NE(message().find("other ranks are in a run"), std::string::npos) << message();
    }
  }
}

TEST(Pool, EveryPolicyGivesTheSameResults) {
  for (const char* policy : {"small-world", "random", "master", "groups", "none"}) {
    steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
    options.policy = policy;
    options.ranks_per_node = 1;
    options.degree = 2;
    options.steal_fraction = 0.3;
    steelyard_task_pool_t* pool = nullptr;
    ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, &options, &pool), STEELYARD_SUCCESS) << message();
    Seen seen;
    if (rank_of(MPI_COMM_WORLD) == 0) {
      for (std::uint64_t tag = 0; tag < 200; ++tag) {
        seen.inputs[tag] = std::string(tag, 'x');
        steelyard_task_pool_spawn(pool, 0, tag, seen.inputs[tag].data(), tag);
      }
    }
    EXPECT_EQ(steelyard_task_pool_run(pool, keep, &seen), STEELYARD_SUCCESS);
    EXPECT_EQ(seen.times.size(), rank_of(MPI_COMM_WORLD) == 0 ? 200u : 0u) << policy;
    steelyard_task_pool_statistics_t all;
    steelyard_task_pool_get_statistics(pool, &all);
    EXPECT_LE(all.connections, all.degree) << policy;
    EXPECT_LE(all.stolen_local + all.stolen_remote, all.executed) << policy;
    if (std::string_view(policy) == "none") {
      EXPECT_EQ(all.stolen_remote + all.stolen_local, 0u);
    }
    EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS);
  }
}

TEST(Pool, WhatATaskOfACProgramThrowsIsItsFailure) {
  const steelyard_task_type_t type{"throw",
                                   [](steelyard_task_t* task, void*) -> int {
                                     if (task->tag == 1) throw std::runtime_error("the oven exploded");
                                     if (task->tag == 2) throw 2;
                                     return 0;
                                   },
                                   nullptr, 1};
  steelyard_task_pool_t* pool = nullptr;
  ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, &type, 1, nullptr, &pool), STEELYARD_SUCCESS) << message();
  for (std::uint64_t tag = 0; tag < 3; ++tag) steelyard_task_pool_spawn(pool, 0, tag, nullptr, 0);
  std::map<std::uint64_t, std::string> messages;
  const auto collect = [](const steelyard_task_result_t* result, void* user) {
    auto& all = *static_cast<std::map<std::uint64_t, std::string>*>(user);
    all[result->tag] = result->message == nullptr ? "" : result->message;
  };
  EXPECT_EQ(steelyard_task_pool_run(pool, collect, &messages), STEELYARD_SUCCESS) << message();
  EXPECT_EQ(messages,
            (std::map<std::uint64_t, std::string>{
                {0, ""}, {1, "the oven exploded"}, {2, "an exception that is not derived from std::exception"}}));
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS) << message();
}

TEST(Pool, ARunDoesNotWaitForHelpersWhoDoNotCome) {
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.threads = 3;
  steelyard_task_pool_t* pool = nullptr;
  ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, &options, &pool), STEELYARD_SUCCESS) << message();
  // By number of threads: helpers that come before the run, in it, or when it is over.
  for (int step = 0; step < 40; ++step) {
    for (int i = 0; i < (step % 3) * 20; ++i)
      EXPECT_EQ(steelyard_task_pool_spawn(pool, 3, 1, nullptr, 0), STEELYARD_SUCCESS);
    int results = 0;
    const auto count = [](const steelyard_task_result_t*, void* all) { ++*static_cast<int*>(all); };
    const int threads = step < 3 ? 1 : 1 + step / 3 % 3;
#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() == 0) {
      if (step % 2 == 0) usleep(300);
      EXPECT_EQ(steelyard_task_pool_run(pool, count, &results), STEELYARD_SUCCESS) << message();
    } else {
      if (step % 5 == 0) usleep(500);
      EXPECT_EQ(steelyard_task_pool_help(pool), STEELYARD_SUCCESS) << message();
    }
    EXPECT_EQ(results, (step % 3) * 20);
  }
  EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS) << message();
}

/// Two pools of two threads: one whose helper never comes, and one whose helper comes after the run.
TEST(Pool, MissingHelpersAreToldOncePerNode) {
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.threads = 2;
  for (const bool helps : {false, true}) {
    steelyard_task_pool_t* pool = nullptr;
    ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_WORLD, kTypes, 4, &options, &pool), STEELYARD_SUCCESS) << message();
    EXPECT_EQ(steelyard_task_pool_spawn(pool, 3, 1, nullptr, 0), STEELYARD_SUCCESS);
    testing::internal::CaptureStderr();
    EXPECT_EQ(steelyard_task_pool_run(pool, nullptr, nullptr), STEELYARD_SUCCESS) << message();
    if (helps) {
      std::thread([&] { EXPECT_EQ(steelyard_task_pool_help(pool), STEELYARD_SUCCESS) << message(); }).join();
    }
    EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS) << message();
    const std::string said = testing::internal::GetCapturedStderr();
    const bool told = said.find("options.threads = 2 executes its tasks in one thread") != std::string::npos;
    const std::uint64_t processes = sum_over_ranks(told ? 1 : 0);
    // Tasks are stolen: a process that has executed none does not warn.
    EXPECT_EQ(processes, helps ? 0u : 1u) << said;
  }
}

std::atomic<int> g_ended;

/// All end at once, but for the first and the last, which end after all others.
int first_and_last_wait(steelyard_task_t* task, void* count) {
  const auto others = static_cast<std::uint64_t>(*static_cast<const int*>(count) - 2);
  if (task->tag == 0 || task->tag == others + 1) {
    while (g_ended < static_cast<int>(others)) usleep(50);
  } else {
    ++g_ended;
  }
  return 0;
}

// Two threads wait in a task, so the third has stolen what one of them had stolen.
TEST(Pool, ATaskThatIsStolenTwiceCountsOnce) {
  int count = 20;
  const steelyard_task_type_t type = {"wait", first_and_last_wait, &count, 0};
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.threads = 3;
  options.steal_fraction = 1;  // all of them
  steelyard_task_pool_t* pool = nullptr;
  ASSERT_EQ(steelyard_task_pool_create(MPI_COMM_SELF, &type, 1, &options, &pool), STEELYARD_SUCCESS) << message();
  g_ended = 0;
  for (int i = 0; i < count; ++i)
    ASSERT_EQ(steelyard_task_pool_spawn(pool, 0, static_cast<std::uint64_t>(i), nullptr, 0), STEELYARD_SUCCESS);
  std::vector<std::thread> helpers;
  for (int i = 1; i < options.threads; ++i)
    helpers.emplace_back([pool] { EXPECT_EQ(steelyard_task_pool_help(pool), STEELYARD_SUCCESS) << message(); });
  EXPECT_EQ(steelyard_task_pool_run(pool, nullptr, nullptr), STEELYARD_SUCCESS) << message();
  for (std::thread& helper : helpers) helper.join();
  steelyard_task_pool_statistics_t all;
  EXPECT_EQ(steelyard_task_pool_get_statistics(pool, &all), STEELYARD_SUCCESS);
  EXPECT_EQ(all.executed, static_cast<std::uint64_t>(count));
  EXPECT_GE(all.stolen_local, 1u);
  EXPECT_LE(all.stolen_local, all.executed);
  EXPECT_EQ(all.stolen_remote, 0u);
  EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS) << message();
}

}  // namespace
