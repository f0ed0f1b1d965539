// SPDX-License-Identifier: BSD-3-Clause
// What one turn of each stage costs: the source of the lengths in back_off.h.
#include "wait/back_off.h"

#include <benchmark/benchmark.h>

#include <thread>

namespace {

using namespace steelyard;

void relax(benchmark::State& state) {
  for (auto _ : state) wait::relax();
}
BENCHMARK(relax);

void yield(benchmark::State& state) {
  for (auto _ : state) wait::yield();
}
BENCHMARK(yield);

void sleep(benchmark::State& state) {
  for (auto _ : state) wait::sleep_for(state.range(0));
}
BENCHMARK(sleep)->Arg(5'000)->Arg(50'000)->UseRealTime();

void wake_nobody(benchmark::State& state) {
  std::atomic<std::uint32_t> word{0};
  for (auto _ : state) wait::wake_all(word);
}
BENCHMARK(wake_nobody);

/// Two threads wake each other in turn: two sleeps and two wake-ups.
void wake_and_be_woken(benchmark::State& state) {
  std::atomic<std::uint32_t> ball{0}, end{0};
  std::thread other([&] {
    while (end.load() == 0) {
      while (ball.load() == 0 && end.load() == 0) wait::sleep_on(ball, 0, 1'000'000);
      ball.store(0);
      wait::wake_all(ball);
    }
  });
  for (auto _ : state) {
    ball.store(1);
    wait::wake_all(ball);
    while (ball.load() == 1) wait::sleep_on(ball, 1, 1'000'000);
  }
  end.store(1);
  wait::wake_all(ball);
  other.join();
}
BENCHMARK(wake_and_be_woken)->UseRealTime();

}  // namespace
