// SPDX-License-Identifier: BSD-3-Clause
// Ranks with a pool of std::thread: rank 0 has four times the work of the others. Between two pieces of its work, a
// rank asks for cores of ranks that wait, and runs the next piece on all that it has.
//
//     mpirun -n 2 --bind-to core ./pool                   # natively
//     mpirun -n 2 --bind-to core steelyard run ./pool     # cores of waiting ranks join
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "steelyard/cores.h"

namespace {

constexpr int kSteps = 5;
constexpr int kPieces = 16;            // of the work of rank 0 in a step
constexpr int kItems = 64;             // of a piece: any thread may do any of them
constexpr std::uint64_t kSize = 8192;  // of an item: a piece takes some 10 ms on one core

std::uint64_t work_on(std::uint64_t item, std::uint64_t size) {
  std::uint64_t state = item + 1;
  for (std::uint64_t i = 0; i < size * 16; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33;
}

/// Threads that do the items of a piece, each bound to a CPU. The first CPU is that of the calling thread.
class Pool {
 public:
  ~Pool() { command(0, {}); }

  std::uint64_t run(std::uint64_t first_item, std::uint64_t size, const std::vector<int>& cpus) {
    next_ = 0;
    sum_ = 0;
    first_item_ = first_item;
    size_ = size;
    while (threads_.size() + 1 < cpus.size()) {
      const std::size_t number = threads_.size() + 1;
      threads_.emplace_back([this, number, piece = piece_] { serve(number, piece); });
    }
    command(1, cpus);
    work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
    return sum_;
  }

 private:
  void command(int go, const std::vector<int>& cpus) {
    {
      const std::lock_guard lock(mutex_);
      cpus_ = cpus;
      busy_ = go != 0 ? static_cast<int>(cpus.size()) - 1 : 0;
      ended_ = go == 0;
      ++piece_;
    }
    begin_.notify_all();
    if (go == 0) {
      for (std::thread& thread : threads_) thread.join();
    }
  }
  void serve(std::size_t number, std::uint64_t piece) {
    for (int bound = -1;;) {
      int cpu = 0;
      {
        std::unique_lock lock(mutex_);
        begin_.wait(lock, [&] { return piece_ != piece; });
        piece = piece_;
        if (ended_) return;
        if (number >= cpus_.size()) continue;  // fewer cores than before: this thread sleeps
        cpu = cpus_[number];
      }
      if (cpu != bound) bind(bound = cpu);
      work();
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }
  static void bind(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu), &set);
    sched_setaffinity(0, sizeof(set), &set);  // fails if the machine is emulated: the thread then runs anywhere
  }
  void work() {
    std::uint64_t sum = 0;
    for (int item = next_++; item < kItems; item = next_++)
      sum += work_on(first_item_ + static_cast<std::uint64_t>(item), size_);
    sum_ += sum;
  }

  std::mutex mutex_;
  std::condition_variable begin_, done_;
  std::vector<std::thread> threads_;
  std::vector<int> cpus_;
  std::uint64_t piece_ = 0, first_item_ = 0, size_ = 0;
  int busy_ = 0;
  bool ended_ = false;
  std::atomic<int> next_{0};
  std::atomic<std::uint64_t> sum_{0};
};

std::vector<int> cpus_now() {
  int count = 0;
  steelyard_cores_get(nullptr, 0, &count);
  std::vector<int> cpus(static_cast<std::size_t>(count));
  steelyard_cores_get(cpus.data(), count, &count);
  return cpus;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t size = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kSize;
  int provided, rank;
  steelyard_cores_init(0);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Pool pool;
  std::uint64_t sum = 0;
  std::size_t most = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step < kSteps; ++step) {
    for (int piece = 0; piece < (rank == 0 ? kPieces : kPieces / 4); ++piece) {
      steelyard_cores_acquire(INT_MAX, nullptr);
      const std::vector<int> cpus = cpus_now();
      most = cpus.size() > most ? cpus.size() : most;
      const int number = (rank * kSteps + step) * kPieces + piece;
      sum += pool.run(static_cast<std::uint64_t>(number) * kItems, size, cpus);
    }
    std::uint64_t all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);  // returns the acquired cores
    if (step + 1 == kSteps && rank == 0) {
      const std::chrono::duration<double> length = std::chrono::steady_clock::now() - begin;
      std::printf("pool: steps %d, cores of rank 0 up to %zu, %.3f s, checksum %llu\n", kSteps, most, length.count(),
                  static_cast<unsigned long long>(all % 1'000'000'007));
    }
  }
  MPI_Finalize();
}
