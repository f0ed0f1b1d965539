// SPDX-License-Identifier: BSD-3-Clause
#include <benchmark/benchmark.h>
#include <omp.h>
#include <time.h>

#include "loops/team.h"

// What it costs to take a chunk of one iteration, in ns of CPU time: ours, and that of the OpenMP runtime in whose
// process this runs. This program loads GNU's; with LD_PRELOAD=libomp.so.5 it is LLVM's.
namespace {

using namespace steelyard::loops;

constexpr long kIterations = 1'000'000;

/// CPU time of this thread: a thread that was put aside by the kernel took no chunks meanwhile.
double thread_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void report(benchmark::State& state, double ns) {
  state.counters["ns_a_chunk"] = ns / (static_cast<double>(state.iterations()) * kIterations);
}

void ours(benchmark::State& state, Strategy strategy) {
  const int threads = static_cast<int>(state.range(0));
  Loop loop("benchmark", {strategy, 0, 1});
  Team team(threads);
  long sum = 0;
  double ns = 0;
  for (auto _ : state) {
#pragma omp parallel num_threads(threads) reduction(+ : sum, ns)
    {
      const double start = thread_ns();
      Member& member = team.member(omp_get_thread_num());
      if (member.begin(loop, kIterations)) {
        for (Chunk chunk; member.next(chunk);) benchmark::DoNotOptimize(sum += static_cast<long>(chunk.begin));
        member.end();
      }
      ns += thread_ns() - start;
    }
  }
  report(state, ns);
}

void steal(benchmark::State& state) { ours(state, Strategy::steal); }
void staggered(benchmark::State& state) { ours(state, Strategy::staggered); }
void pool(benchmark::State& state) { ours(state, Strategy::hybrid); }

void openmp_dynamic(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  long sum = 0;
  double ns = 0;
  for (auto _ : state) {
#pragma omp parallel num_threads(threads) reduction(+ : sum, ns)
    {
      const double start = thread_ns();
#pragma omp for schedule(dynamic, 1) nowait
      for (long i = 0; i < kIterations; ++i) benchmark::DoNotOptimize(sum += i);
      ns += thread_ns() - start;
    }
  }
  report(state, ns);
}

/// A whole loop of no work: what an execution costs beside its chunks, with the region's fork and join.
void empty_loop(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  Loop loop("empty");
  Team team(threads);
  for (auto _ : state) {
#pragma omp parallel num_threads(threads)
    {
      Member& member = team.member(omp_get_thread_num());
      if (member.begin(loop, static_cast<std::uint64_t>(threads))) {
        for (Chunk chunk; member.next(chunk);) benchmark::DoNotOptimize(chunk);
        member.end();
      }
    }
  }
}

void openmp_empty_loop(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < threads; ++i) benchmark::DoNotOptimize(i);
  }
}

}  // namespace

BENCHMARK(steal)->Arg(2)->UseRealTime();
BENCHMARK(staggered)->Arg(2)->UseRealTime();
BENCHMARK(pool)->Arg(2)->UseRealTime();
BENCHMARK(openmp_dynamic)->Arg(2)->UseRealTime();
BENCHMARK(empty_loop)->Arg(2)->UseRealTime();
BENCHMARK(openmp_empty_loop)->Arg(2)->UseRealTime();
