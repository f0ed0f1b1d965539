// SPDX-License-Identifier: BSD-3-Clause
// Ranks that compute in oneTBB: rank 0 has four times the work of the others. Between two pieces of its work, a rank
// asks for cores of ranks that wait, and runs the next piece in an arena with a thread on each core that it has.
//
//     mpirun -n 2 --bind-to core ./tbb                   # natively
//     mpirun -n 2 --bind-to core steelyard run ./tbb     # cores of waiting ranks join
#include <mpi.h>
#include <oneapi/tbb.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "steelyard/cores.hpp"

namespace {

constexpr int kSteps = 5;
constexpr int kPieces = 16;            // of the work of rank 0 in a step
constexpr int kItems = 64;             // of a piece
constexpr std::uint64_t kSize = 8192;  // of an item: a piece takes some 10 ms on one core
constexpr int kMostCores = 1024;       // of a node, at most

std::uint64_t work_on(std::uint64_t item, std::uint64_t size) {
  std::uint64_t state = item + 1;
  for (std::uint64_t i = 0; i < size * 16; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33;
}

/// An arena with a thread on each of these CPUs. The first one is that of the thread that calls execute().
class BoundArena : tbb::task_scheduler_observer {
 public:
  explicit BoundArena(std::vector<int> cpus) : BoundArena(std::move(cpus), std::make_unique<tbb::task_arena>()) {}
  ~BoundArena() override { observe(false); }
  BoundArena(const BoundArena&) = delete;
  BoundArena& operator=(const BoundArena&) = delete;

  const std::vector<int>& cpus() const { return cpus_; }
  template <class Work>
  auto execute(Work&& work) {
    return arena_->execute(std::forward<Work>(work));
  }

 private:
  BoundArena(std::vector<int> cpus, std::unique_ptr<tbb::task_arena> arena)
      : tbb::task_scheduler_observer(*arena), cpus_(std::move(cpus)), arena_(std::move(arena)) {
    arena_->initialize(static_cast<int>(cpus_.size()));
    observe(true);
  }
  void on_scheduler_entry(bool) override {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpus_[static_cast<std::size_t>(tbb::this_task_arena::current_thread_index())]), &set);
    sched_setaffinity(0, sizeof(set), &set);  // fails if the machine is emulated: the thread then runs anywhere
  }

  std::vector<int> cpus_;
  std::unique_ptr<tbb::task_arena> arena_;
};

std::uint64_t piece(std::uint64_t first_item, std::uint64_t size) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::uint64_t>(first_item, first_item + kItems), std::uint64_t{0},
      [size](const tbb::blocked_range<std::uint64_t>& items, std::uint64_t sum) {
        for (std::uint64_t item = items.begin(); item != items.end(); ++item) sum += work_on(item, size);
        return sum;
      },
      std::plus<>());
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t size = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kSize;
  int provided, rank;
  steelyard::cores_init();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // TBB starts no more threads than the affinity mask has CPUs, unless it is told to.
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, kMostCores);
  std::unique_ptr<BoundArena> arena;
  std::uint64_t sum = 0;
  std::size_t most = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step < kSteps; ++step) {
    for (int number = 0; number < (rank == 0 ? kPieces : kPieces / 4); ++number) {
      steelyard::cores_acquire(kMostCores);
      std::vector<int> cpus = steelyard::cores_get();
      if (arena == nullptr || arena->cpus() != cpus) arena = std::make_unique<BoundArena>(std::move(cpus));
      most = std::max(most, arena->cpus().size());
      const int first = ((rank * kSteps + step) * kPieces + number) * kItems;
      sum += arena->execute([&] { return piece(static_cast<std::uint64_t>(first), size); });
    }
    std::uint64_t all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);  // returns the acquired cores
    if (step + 1 == kSteps && rank == 0) {
      const std::chrono::duration<double> length = std::chrono::steady_clock::now() - begin;
      std::printf("tbb: steps %d, cores of rank 0 up to %zu, %.3f s, checksum %llu\n", kSteps, most, length.count(),
                  static_cast<unsigned long long>(all % 1'000'000'007));
    }
  }
  MPI_Finalize();
}
