// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <vector>

#include "loops/history.h"
#include "loops/plan.h"
#include "loops/range.h"

// For tests: a machine on which loops are executed event by event, by the engine's own arithmetic. Pure: the same seed
// gives the same times.
namespace steelyard::loops::simulated {

/// What the iterations cost, in ns.
class Work {
 public:
  Work(std::uint64_t count, const std::function<double(double)>& cost_at) {
    until_.push_back(0);
    for (std::uint64_t i = 0; i < count; ++i)
      until_.push_back(until_.back() + cost_at((static_cast<double>(i) + 0.5) / static_cast<double>(count)));
  }
  std::uint64_t count() const { return until_.size() - 1; }
  double cost(std::uint64_t begin, std::uint64_t end) const { return end > begin ? until_[end] - until_[begin] : 0; }
  /// Makes all of it cost `ns`.
  Work& of_total(double ns) {
    const double factor = ns / until_.back();
    for (double& until : until_) until *= factor;
    return *this;
  }

 private:
  std::vector<double> until_;
};

struct Machine {
  int threads = 2;
  std::vector<double> slowness;  ///< by thread; 1 where there is none
  double stolen_factor = 1;  ///< an iteration costs so many times more on a thread that did not touch its data first
  double noise = 0.003;      ///< standard deviation of the speed of a thread in an execution
  double own_ns = 15;        ///< taking a chunk of the own range
  double pool_ns = 30;       ///< of the pool; and 5 more for each thread that wants one, too
  double steal_ns = 150;     ///< from another's range; looking at one that is empty takes 20
  int preempted = -1;        ///< this thread loses so many ns in the midst of what it takes first
  double preempted_ns = 0;
};

class Simulator {
 public:
  Simulator(Machine machine, unsigned seed) : machine_(std::move(machine)), random_(seed) {
    machine_.slowness.resize(static_cast<std::size_t>(machine_.threads), 1.0);
  }
  Machine& machine() { return machine_; }

  Execution execute(const Plan& plan, const Work& work) {
    const auto threads = static_cast<std::uint32_t>(machine_.threads);
    std::normal_distribution<> noise(1, machine_.noise);
    struct Thread {
      double now = 0, left_own_part = -1, speed = 1;
      Range own;
      bool fixed = true;
      ThreadSample sample;
      std::uint64_t iterations = 0, own_iterations = 0;
    };
    std::vector<Thread> all(threads);
    const auto cut = [](std::uint64_t i) { return static_cast<std::uint32_t>(i); };
    for (std::uint32_t t = 0; t < threads; ++t) {
      all[t].own = {cut(plan.dynamic_begin(static_cast<int>(t))), cut(plan.boundaries[t + 1])};
      all[t].speed = machine_.slowness[t] * std::max(0.5, noise(random_));
    }
    Range pool{cut(plan.pool), cut(work.count())};
    const std::uint32_t pooled = pool.size(), chunk = cut(std::min<std::uint64_t>(plan.chunk, UINT32_MAX));
    std::priority_queue<std::pair<double, std::uint32_t>, std::vector<std::pair<double, std::uint32_t>>, std::greater<>>
        next;
    for (std::uint32_t t = 0; t < threads; ++t) next.emplace(0.0, t);
    double finished = 0;
    while (!next.empty()) {
      const std::uint32_t t = next.top().second;
      next.pop();
      Thread& thread = all[t];
      Range got;
      double price = 0;
      if (thread.fixed) {
        thread.fixed = false;
        got = {cut(plan.boundaries[t]), cut(plan.dynamic_begin(static_cast<int>(t)))};
      } else if (!thread.own.empty()) {
        const std::uint32_t size = std::min(std::max(1U, chunk), thread.own.size());
        got = {thread.own.begin, thread.own.begin + size};
        thread.own.begin += size;
        price = machine_.own_ns;
      } else {
        if (thread.left_own_part < 0) {
          thread.left_own_part = thread.now;
          thread.own_iterations = thread.iterations;
        }
        if (!pool.empty()) {
          const std::uint32_t size = bite(plan.rule, chunk, threads, pooled, pool.size());
          got = {pool.begin, pool.begin + size};
          pool.begin += size;
          price = machine_.pool_ns + 5.0 * threads;
        } else {
          for (std::uint32_t i = 1; plan.steal != Steal::none && i < threads && got.empty(); ++i) {
            Range& victim = all[(t + i) % threads].own;
            price += 20;
            if (victim.empty()) continue;
            const std::uint32_t size = loot(plan.steal, chunk, victim.size());
            const std::uint32_t first = std::min(size, std::max(1U, chunk));
            victim.end -= size;
            got = {victim.end, victim.end + first};
            thread.own = {victim.end + first, victim.end + size};
            price += machine_.steal_ns;
          }
          if (got.empty()) {
            thread.sample.busy_ns = static_cast<std::int64_t>(thread.now);
            finished = std::max(finished, thread.now + price);
            continue;
          }
        }
      }
      // Data lie where an even division has put them.
      const std::uint64_t here = work.count() * t / threads, there = work.count() * (t + 1) / threads;
      const double cost = work.cost(got.begin, got.end);
      const double own_cost =
          work.cost(std::max<std::uint64_t>(got.begin, here), std::min<std::uint64_t>(got.end, there));
      thread.now += price + thread.speed * (own_cost + machine_.stolen_factor * (cost - own_cost));
      if (static_cast<int>(t) == machine_.preempted && thread.iterations == 0) thread.now += machine_.preempted_ns;
      thread.iterations += got.size();
      thread.sample.chunks += !got.empty();
      next.emplace(thread.now, t);
    }
    Execution execution{work.count(), plan.strategy, plan.static_fraction, static_cast<std::int64_t>(finished), {}};
    execution.learning_ns = 2000;
    for (Thread& thread : all) {
      thread.sample.own_ns = static_cast<std::int64_t>(thread.left_own_part);
      thread.sample.own_iterations = thread.own_iterations;
      thread.sample.stolen = thread.iterations - thread.own_iterations;
      thread.sample.idle_ns = execution.elapsed_ns - thread.sample.busy_ns;
      execution.threads.push_back(thread.sample);
    }
    return execution;
  }

 private:
  Machine machine_;
  std::mt19937 random_;
};

}  // namespace steelyard::loops::simulated
