// SPDX-License-Identifier: BSD-3-Clause
#include <benchmark/benchmark.h>

#include <random>

#include "cores/plan.h"

namespace {

using namespace steelyard::cores;

struct Node {
  std::vector<ProcessLoad> loads;
  std::vector<Scaling> scaling;
  NodeShape shape;
};

/// Equal thread counts, loads that differ by +-50 %.
Node make_node(int processes, int domains, int cores, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> load(0.5, 1.5);
  Node node;
  node.shape.capacity.assign(domains, cores);
  node.shape.budget = domains * cores;
  const int threads = node.shape.budget / processes;
  for (int p = 0; p < processes; ++p) {
    ProcessLoad l;
    l.threads = threads;
    l.parallel = threads * load(random);
    l.region_wall = l.parallel / threads;
    l.serial = 0.01;
    node.loads.push_back(l);
    node.scaling.push_back({seed % 2 ? 1.0 : 0.9});
    node.shape.held.emplace_back(domains, 0);
    node.shape.held.back()[p * domains / processes] = threads;
  }
  return node;
}

void plan_node(benchmark::State& state) {
  std::vector<Node> nodes;
  for (unsigned seed = 0; seed < 64; ++seed)
    nodes.push_back(make_node(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                              static_cast<int>(state.range(2)), seed));
  std::size_t next = 0;
  for (auto _ : state) {
    const Node& node = nodes[next++ % nodes.size()];
    benchmark::DoNotOptimize(plan(node.loads, node.scaling, node.shape));
  }
}

}  // namespace

BENCHMARK(plan_node)
    ->ArgNames({"processes", "domains", "cores"})
    ->Args({8, 2, 24})
    ->Args({16, 2, 24})
    ->Args({64, 2, 96})
    ->Args({64, 4, 64})
    ->Args({64, 8, 48})
    ->Unit(benchmark::kMicrosecond);
