// SPDX-License-Identifier: BSD-3-Clause
// Steps of a region, all of which rank 0 has, and of a task pool that all ranks share. `how` tells which region runs
// the pool: TaskPool::run() (cpp), one with a num_threads clause (c), or the one that computes, too (own).
// Threads sleep in place of computing.
//
//   pools how=cpp steps=40 solver=8 tasks=20 threads=0
#include <mpi.h>
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <steelyard/tasks.hpp>
#include <thread>
#include <vector>

namespace {

int rank, ranks;
const char* how = "cpp";
long steps = 40, solver_ms = 8, tasks = 20, threads = 0;
constexpr long kMs = 1'000'000;
std::atomic<int> refused{0};

[[gnu::noinline]] void work(long ns) {
  const timespec length{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&length, nullptr);
}

int compute(steelyard_task_t*, void*) {
  work(kMs);
  return 0;
}

/// Rank 0 has all of it.
[[gnu::noinline]] long solve() {
  const long cells = rank == 0 ? solver_ms : 0;
  long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < cells; ++i) {
    work(kMs);
    sum += i;
  }
  return sum;
}

void consume(const steelyard_task_result_t*, void* count) { ++*static_cast<long*>(count); }

// Without a query of the thread ID: a team of any size will do.
void run_or_help(steelyard_task_pool_t* pool, std::thread::id primary, long* results) {
  if (std::this_thread::get_id() == primary)
    steelyard_task_pool_run(pool, consume, results);
  else if (steelyard_task_pool_help(pool) != STEELYARD_SUCCESS)
    ++refused;
}

[[gnu::noinline]] void run_in_clause(steelyard_task_pool_t* pool, long* results) {
  const int most = static_cast<int>(threads);
  const std::thread::id primary = std::this_thread::get_id();
#pragma omp parallel num_threads(most)
  run_or_help(pool, primary, results);
}

[[gnu::noinline]] void run_in_own(steelyard_task_pool_t* pool, long* results) {
  const std::thread::id primary = std::this_thread::get_id();
#pragma omp parallel
  {
    work(kMs);
    run_or_help(pool, primary, results);
  }
}

// The run lasts until a helper is refused, or 10 s.
int await_refusal(steelyard_task_t*, void*) {
  for (int ms = 0; ms < 10000 && refused == 0; ++ms) work(kMs);
  return 0;
}

/// Outside of regions, after one that may have had a larger team, with a helper more than the pool was made for. Tells
/// how many were refused.
int run_with_one_helper_too_many() {
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.threads = 2;
  const steelyard_task_type_t type = {"await_refusal", await_refusal, nullptr, 1};
  steelyard_task_pool_t* pool = nullptr;
  steelyard_task_pool_create(MPI_COMM_SELF, &type, 1, &options, &pool);
  steelyard_task_pool_spawn(pool, 0, 0, nullptr, 0);
  refused = 0;
  solve();
  std::vector<std::thread> helpers;
  for (int i = 0; i < 2; ++i) {
    helpers.emplace_back([pool] {
      if (steelyard_task_pool_help(pool) == STEELYARD_ERROR_INVALID_STATE) ++refused;
    });
  }
  steelyard_task_pool_run(pool, nullptr, nullptr);
  for (std::thread& helper : helpers) helper.join();
  steelyard_task_pool_free(pool);
  return refused;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2] * 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "how=", 4) == 0) how = argv[i] + 4;
    std::sscanf(argv[i], "steps=%ld", &steps);
    std::sscanf(argv[i], "solver=%ld", &solver_ms);
    std::sscanf(argv[i], "tasks=%ld", &tasks);
    std::sscanf(argv[i], "threads=%ld", &threads);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (threads == 0) threads = omp_get_max_threads();
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.threads = static_cast<int>(threads);
  const bool cpp = std::strcmp(how, "cpp") == 0, own = std::strcmp(how, "own") == 0;
  long sum = 0, results = 0;
  std::vector<double> solver, pool, step;
  {
    steelyard_task_pool_t* called = nullptr;
    const steelyard_task_type_t type = {"compute", compute, nullptr, 1};
    steelyard_task_pool_create(MPI_COMM_WORLD, &type, 1, &options, &called);
    steelyard::TaskPool<long, long> typed(
        MPI_COMM_WORLD,
        [](long in) {
          work(kMs);
          return in;
        },
        options);
    for (long s = 0; s < steps; ++s) {
      const double start = MPI_Wtime();
      sum += solve();
      MPI_Barrier(MPI_COMM_WORLD);
      const double middle = MPI_Wtime();
      for (long i = 0; i < tasks; ++i) {
        if (cpp)
          typed.spawn(i);
        else
          steelyard_task_pool_spawn(called, 0, 0, nullptr, 0);
      }
      if (cpp)
        typed.run([&results](long, long) { ++results; });
      else if (own)
        run_in_own(called, &results);
      else
        run_in_clause(called, &results);
      MPI_Barrier(MPI_COMM_WORLD);
      const double end = MPI_Wtime();
      solver.push_back(middle - start);
      pool.push_back(end - middle);
      step.push_back(end - start);
    }
    steelyard_task_pool_free(called);
  }
  long all[4] = {sum, results, refused, 0}, total[4];
  all[3] = run_with_one_helper_too_many();
  MPI_Reduce(all, total, 4, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("solver %.2f pool %.2f step %.2f ms\nchecksum %ld\nrefused %ld\none too many refused %ld\n",
                median(solver), median(pool), median(step), total[0] * 31 + total[1], total[2], total[3]);
  }
  MPI_Finalize();
}
