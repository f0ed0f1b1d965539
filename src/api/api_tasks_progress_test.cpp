// SPDX-License-Identifier: BSD-3-Clause
// A process in a long task does not keep tasks from other nodes. Four ranks, in nodes of two or of one.
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>

#include "intercept/mpi/ranks_in_tests.h"
#include "steelyard/tasks.h"

namespace {

constexpr int kRanks = 4, kTasks = 400;

/// What the ranks share beside the pool.
struct Shared {
  std::atomic<int> executed[kRanks];  ///< short tasks, by rank
  std::atomic<int> home;              ///< results of them that their owner has got
};
Shared* g_shared;
int g_rank, g_node;  // ranks that make a node

bool far_from(int owner, int rank) { return rank / g_node != owner / g_node; }

int short_task(steelyard_task_t*, void*) {
  usleep(2000);
  ++g_shared->executed[g_rank];
  return 0;
}

/// Ends once a rank of another node than that of the short tasks' owner has executed some of them. Without that, it
/// ends after long, which is a failure.
int long_task(steelyard_task_t* task, void*) {
  int owner = 0;
  std::memcpy(&owner, task->data, sizeof(owner));
  constexpr int kTurns = 20'000;  // of 1 ms
  for (int turn = 0; turn < kTurns; ++turn) {
    int far = 0;
    for (int rank = 0; rank < kRanks; ++rank) far += far_from(owner, rank) ? g_shared->executed[rank].load() : 0;
    if (far >= 3) return 0;
    usleep(1000);
  }
  return 1;
}

struct Seen {
  int results = 0, failures = 0;
};
void keep(const steelyard_task_result_t* result, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  ++(result->message == nullptr ? seen.results : seen.failures);
  ++g_shared->home;
}

class Progress : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    g_rank = steelyard::rank_of(all_);
    ASSERT_EQ(steelyard::size_of(all_), kRanks);
    void* base = nullptr;
    MPI_Win_allocate_shared(g_rank == 0 ? sizeof(Shared) : 0, 1, MPI_INFO_NULL, all_, &base, &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &g_shared);
  }
  static void TearDownTestSuite() {
    MPI_Win_free(&window_);
    MPI_Comm_free(&all_);
  }
  /// Rank `busy` executes a long task first; rank `owner` has all short ones.
  void run(int node, int busy, int owner) {
    g_node = node;
    const steelyard_task_type_t types[] = {{"short", short_task, nullptr, 1}, {"long", long_task, nullptr, 1}};
    steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
    options.ranks_per_node = node;
    steelyard_task_pool_t* pool = nullptr;
    ASSERT_EQ(steelyard_task_pool_create(all_, types, 2, &options, &pool), STEELYARD_SUCCESS) << steelyard_message();
    if (g_rank == 0) new (g_shared) Shared{};
    if (g_rank == owner) {
      for (int i = 0; i < kTasks; ++i) steelyard_task_pool_spawn(pool, 0, 0, nullptr, 0);
    }
    if (g_rank == busy) steelyard_task_pool_spawn(pool, 1, 0, &owner, sizeof(owner));
    MPI_Barrier(all_);
    if (g_rank != busy) usleep(5000);  // or another rank executes the long task
    Seen seen;
    EXPECT_EQ(steelyard_task_pool_run(pool, keep, &seen), STEELYARD_SUCCESS) << steelyard_message();
    EXPECT_EQ(seen.results, (g_rank == owner ? kTasks : 0) + (g_rank == busy ? 1 : 0)) << busy << ' ' << owner;
    EXPECT_EQ(seen.failures, 0) << "no task has left the node: " << node << ' ' << busy << ' ' << owner;
    EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS);
  }
  static MPI_Comm all_;
  static MPI_Win window_;
};
MPI_Comm Progress::all_;
MPI_Win Progress::window_;

TEST_F(Progress, ALongTaskOfAnyRankOfTwoDoesNotKeepTasksFromTheOtherNode) {
  for (int busy = 0; busy < kRanks; ++busy) {
    for (int owner = 0; owner < kRanks; ++owner) {
      if (busy != owner) run(2, busy, owner);
    }
  }
}

#ifdef STEELYARD_TEST_MULTIPLE
TEST_F(Progress, ALongTaskOfTheOnlyRankOfANodeDoesNotKeepTasksFromOtherNodes) {
  for (int busy = 0; busy < kRanks; ++busy) run(1, busy, busy);
  run(2, 0, 0);
}
#endif

/// Short and long tasks; the result is the input, reversed.
int mixed_task(steelyard_task_t* task, void*) {
  usleep(task->tag % 8 == 0 ? 15'000 : 300);
  const char* input = static_cast<const char*>(task->data);
  const std::string result(std::make_reverse_iterator(input + task->size), std::make_reverse_iterator(input));
  steelyard_task_set_result(task, result.data(), result.size());
  if (task->tag % 5 == 0 && task->tag < 1'000) steelyard_task_spawn(task, 0, task->tag + 1'000, task->data, task->size);
  return 0;
}
std::string input_of(std::uint64_t tag, int rank) {
  std::string input(tag % 13 * 700, ' ');
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<char>(tag * 7 + i * 3 + static_cast<std::size_t>(rank));
  return input;
}

TEST_F(Progress, EveryResultReturnsOnceFromLongAndShortTasks) {
  for (const int node : {1, 2, 3}) {
    const steelyard_task_type_t type = {"mixed", mixed_task, nullptr, 1};
    steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
    options.ranks_per_node = node;
    steelyard_task_pool_t* pool = nullptr;
    ASSERT_EQ(steelyard_task_pool_create(all_, &type, 1, &options, &pool), STEELYARD_SUCCESS) << steelyard_message();
    for (int owner = 0; owner <= kRanks; ++owner) {
      const std::uint64_t count = owner == kRanks ? 60 : owner == g_rank ? 240 : 0;
      for (std::uint64_t tag = 0; tag < count; ++tag) {
        const std::string input = input_of(tag, g_rank);
        steelyard_task_pool_spawn(pool, 0, tag, input.data(), input.size());
      }
      std::map<std::uint64_t, int> times;
      const auto collect = [](const steelyard_task_result_t* result, void* user) {
        ++(*static_cast<std::map<std::uint64_t, int>*>(user))[result->tag];
        const std::string input = input_of(result->tag % 1'000, g_rank);
        EXPECT_EQ(std::string(static_cast<const char*>(result->data), result->size),
                  std::string(input.rbegin(), input.rend()));
      };
      EXPECT_EQ(steelyard_task_pool_run(pool, collect, &times), STEELYARD_SUCCESS) << steelyard_message();
      EXPECT_EQ(times.size(), count + (count + 4) / 5);
      for (const auto& [tag, found] : times) EXPECT_EQ(found, 1) << tag;
    }
    EXPECT_EQ(steelyard_task_pool_free(pool), STEELYARD_SUCCESS) << steelyard_message();
  }
}

}  // namespace
