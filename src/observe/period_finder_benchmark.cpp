// SPDX-License-Identifier: BSD-3-Clause
// What a tick costs on the way out of a collective or a region.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "observe/period_finder.h"

namespace steelyard::observe {
namespace {

void run(benchmark::State& state, const std::vector<std::uint64_t>& sites) {
  PeriodFinder finder;
  std::size_t next = 0;
  for (auto _ : state) {
    finder.tick(sites[next]);
    next = next + 1 < sites.size() ? next + 1 : 0;
    benchmark::DoNotOptimize(finder.period());
  }
}

void steady_step(benchmark::State& state) { run(state, {1, 2, 1, 3}); }
BENCHMARK(steady_step);

void longest_step(benchmark::State& state) {
  std::vector<std::uint64_t> sites(256);
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i] = i;
  run(state, sites);
}
BENCHMARK(longest_step);

/// As many sites as the argument says, in random order: the search never ends.
void nothing_periodic(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> sites(1 << 16);
  for (auto& site : sites) site = random() % static_cast<std::uint64_t>(state.range(0));
  run(state, sites);
}
BENCHMARK(nothing_periodic)->Arg(2)->Arg(8)->Arg(1 << 20);

}  // namespace
}  // namespace steelyard::observe
