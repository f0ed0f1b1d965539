// SPDX-License-Identifier: BSD-3-Clause
#include "cores/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace steelyard::cores {
namespace {

/// A node in a closed loop with the policy: each process computes serial + parallel / threads^alpha, a step lasts as
/// long as the longest. Deterministic: the noise has a seed.
struct Node {
  std::vector<int> threads;
  std::vector<int> capacity;
  std::function<std::vector<double>(int step)> work;  ///< s on one thread, by process
  double alpha = 1;
  double serial = 0;
  double noise = 0;         ///< of each process and step, standard deviation as a fraction
  double common_noise = 0;  ///< of all processes together
  double per_core = 50e-6;  ///< s that a moved core really costs
  unsigned seed = 1;
};

struct Outcome {
  double elapsed = 0;
  int applied = 0;
  int undone = 0;
  int helped = 0;
  int undecided = 0;
  std::vector<int> threads;
  std::vector<long> acted;  ///< at these steps
};

double longest(const Node& node, const std::vector<double>& work, const std::vector<int>& threads) {
  double busy = 0;
  for (std::size_t p = 0; p < work.size(); ++p)
    busy = std::max(busy, node.serial + work[p] / std::pow(threads[p], node.alpha));
  return busy;
}

class Simulation {
 public:
  explicit Simulation(const Node& node) : node_(node), random_(node.seed), threads_(node.threads) {
    shape_.capacity = node.capacity;
    std::size_t domain = 0;
    int room = node.capacity[0];
    for (int threads : threads_) {
      shape_.held.emplace_back(node.capacity.size(), 0);
      shape_.budget += threads;
      for (int core = 0; core < threads; ++core, --room) {
        while (room == 0) room = node.capacity[++domain];
        ++shape_.held.back()[domain];
      }
    }
  }

  /// Without a policy: as it is.
  Outcome run(int steps, Policy* policy = nullptr) {
    Outcome outcome;
    for (int step = 0; step < steps;) {
      Window window;
      window.loads.resize(threads_.size());
      window.steps = std::max(1, std::min(policy ? policy->steps_wanted() : 1, steps - step));
      for (int i = 0; i < window.steps; ++i) one_step(step++, window);
      window.elapsed += pending_cost_;
      pending_cost_ = 0;
      outcome.elapsed += window.elapsed;
      window.time = outcome.elapsed;
      if (policy) obey(policy->consider(window, shape_), step, outcome);
    }
    outcome.threads = threads_;
    return outcome;
  }

 private:
  void one_step(int step, Window& window) {
    const std::vector<double> work = node_.work(step);
    std::normal_distribution<double> normal;
    const double all = 1 + node_.common_noise * normal(random_);
    double elapsed = 0;
    for (std::size_t p = 0; p < work.size(); ++p) {
      ProcessLoad& load = window.loads[p];
      load.threads = threads_[p];
      const double region =
          work[p] * std::max(0.1, all * (1 + node_.noise * normal(random_))) / std::pow(threads_[p], node_.alpha);
      load.region_wall += region;
      load.parallel += region * threads_[p];
      load.serial += node_.serial;
      elapsed = std::max(elapsed, region + node_.serial);
    }
    window.elapsed += elapsed;
  }

  void obey(const Verdict& verdict, int step, Outcome& outcome) {
    EXPECT_FALSE(verdict.reason.empty());
    EXPECT_TRUE(std::isfinite(verdict.forecast_gain) && std::isfinite(verdict.noise) && std::isfinite(verdict.cost));
    outcome.helped += verdict.judged && verdict.helped;
    outcome.undecided += verdict.undecided;
    if (verdict.action == Action::none) return;
    (verdict.action == Action::apply ? outcome.applied : outcome.undone) += 1;
    outcome.acted.push_back(step);
    ASSERT_EQ(verdict.plan.threads.size(), threads_.size());
    ASSERT_LE(std::accumulate(verdict.plan.threads.begin(), verdict.plan.threads.end(), 0), shape_.budget);
    for (std::size_t p = 0; p < threads_.size(); ++p) {
      threads_[p] = verdict.plan.threads[p];
      std::fill(shape_.held[p].begin(), shape_.held[p].end(), 0);
      shape_.held[p][verdict.plan.domain[p]] = threads_[p];
    }
    pending_cost_ = node_.per_core * verdict.plan.moved;
  }

  const Node& node_;
  std::mt19937 random_;
  std::vector<int> threads_;
  NodeShape shape_;
  double pending_cost_ = 0;
};

Outcome with_policy(const Node& node, int steps, PolicyOptions options = {}) {
  Policy policy(options);
  return Simulation(node).run(steps, &policy);
}
double untouched(const Node& node, int steps) { return Simulation(node).run(steps).elapsed; }

/// The shortest step over all thread counts that two equal sockets allow, by bisection over the time.
double best_step(const Node& node, const std::vector<double>& work) {
  std::vector<ProcessLoad> loads(work.size());
  std::vector<Scaling> scaling(work.size(), Scaling{node.alpha});
  for (std::size_t p = 0; p < work.size(); ++p) {
    loads[p].region_wall = loads[p].parallel = work[p];
    loads[p].serial = node.serial;
  }
  double best = 1e300;
  const std::size_t domains = node.capacity.size();
  for (std::size_t code = 0, all = static_cast<std::size_t>(std::pow(domains, work.size())); code < all; ++code) {
    std::vector<int> domain, count(domains, 0);
    for (std::size_t p = 0, rest = code; p < work.size(); ++p, rest /= domains) {
      domain.push_back(static_cast<int>(rest % domains));
      ++count[domain.back()];
    }
    bool possible = true;
    for (std::size_t d = 0; d < domains; ++d) possible = possible && count[d] <= node.capacity[d];
    if (!possible) continue;
    const int cores = std::accumulate(node.threads.begin(), node.threads.end(), 0);
    best = std::min(best, longest(node, work, optimal_counts_in(domain, node.capacity, loads, scaling, cores)));
  }
  return best;
}

double best_total(const Node& node, int steps) {
  double sum = 0, best = 0;
  std::vector<double> last;
  for (int step = 0; step < steps; ++step) {
    const std::vector<double> work = node.work(step);
    if (work != last) best = best_step(node, work);
    last = work;
    sum += best;
  }
  return sum;
}

Node eight_on_two_sockets() {
  Node node;
  node.threads.assign(8, 6);
  node.capacity = {24, 24};
  node.noise = 0.01;
  return node;
}

auto constant(std::vector<double> work) {
  return [work](int) { return work; };
}

TEST(Policy, SteadyImbalanceTakesOnePlanAndReachesTheOptimum) {
  for (double heavy : {1.3, 1.5, 2.0, 3.0}) {
    for (double noise : {0.0, 0.01, 0.03}) {
      Node node = eight_on_two_sockets();
      node.noise = noise;
      std::vector<double> work(8, 0.6);
      for (int p = 0; p < 8; ++p) work[p] *= 1 + (heavy - 1) * (7 - p) / 7;
      node.work = constant(work);
      const Outcome outcome = with_policy(node, 300);
      SCOPED_TRACE(testing::Message() << "heavy " << heavy << " noise " << noise << " last act "
                                      << (outcome.acted.empty() ? 0 : outcome.acted.back()));
      EXPECT_GE(outcome.applied, 1);
      EXPECT_LE(outcome.applied, noise > 0 ? 2 : 1);
      EXPECT_EQ(outcome.undone, 0);
      const double before = longest(node, work, node.threads), after = longest(node, work, outcome.threads);
      EXPECT_LE((after - best_step(node, work)) / before, 0.03);
    }
  }
}

TEST(Policy, BalancedLoadsAreLeftAlone) {
  struct Case {
    std::vector<int> threads, capacity;
  };
  const Case cases[] = {{std::vector<int>(8, 6), {24, 24}},
                        {{24, 24}, {48}},
                        {{4, 4, 4, 4}, {8, 8}},
                        {std::vector<int>(64, 3), {96, 96}}};
  int moves = 0, runs = 0;
  for (const Case& c : cases) {
    for (double noise : {0.01, 0.02, 0.05}) {
      for (unsigned seed = 1; seed <= (c.threads.size() < 64 ? 3u : 1u); ++seed) {
        Node node;
        node.threads = c.threads;
        node.capacity = c.capacity;
        node.noise = noise;
        node.common_noise = noise;
        node.seed = seed;
        std::vector<double> work;
        for (int threads : c.threads) work.push_back(0.1 * threads);
        node.work = constant(work);
        const Outcome outcome = with_policy(node, 2000);
        EXPECT_LE(outcome.applied, 2) << c.threads.size() << " processes, noise " << noise << " seed " << seed;
        moves += outcome.applied;
        ++runs;
      }
    }
  }
  EXPECT_LE(moves, runs / 6);
}

TEST(Policy, ASingleStepThatIsDisturbedIsNotBelieved) {
  Node node = eight_on_two_sockets();
  node.work = [](int step) {
    std::vector<double> work(8, 0.6);
    work[(step / 50 * 3) % 8] = 1.8;
    if (step % 7 == 5) work[step % 8] *= 1.5;
    return work;
  };
  const double before = untouched(node, 1000), best = best_total(node, 1000);
  const Outcome outcome = with_policy(node, 1000);
  EXPECT_GE((before - outcome.elapsed) / (before - best), 0.70);
  EXPECT_LE(outcome.applied, 30);
}

TEST(Policy, FollowsTheHeavyProcess) {
  for (double noise : {0.0, 0.01, 0.02}) {
    Node node = eight_on_two_sockets();
    node.noise = noise;
    node.work = [](int step) {
      std::vector<double> work(8, 0.6);
      work[(step / 50 * 3) % 8] = 1.8;
      return work;
    };
    const double before = untouched(node, 1000), best = best_total(node, 1000);
    const Outcome outcome = with_policy(node, 1000);
    EXPECT_GE((before - outcome.elapsed) / (before - best), 0.90) << "noise " << noise;
  }
}

TEST(Policy, FollowsASlowDrift) {
  Node node = eight_on_two_sockets();
  node.work = [](int step) {
    std::vector<double> work(8);
    for (int p = 0; p < 8; ++p) work[p] = 0.6 * (1 + 0.8 * std::sin(2 * 3.14159 * (step / 800.0 + p / 8.0)));
    return work;
  };
  const double before = untouched(node, 800), best = best_total(node, 800);
  const Outcome outcome = with_policy(node, 800);
  EXPECT_GE((before - outcome.elapsed) / (before - best), 0.85);
  EXPECT_LE(outcome.applied, 80);
}

TEST(Policy, AlternatingLoadsDoNotThrash) {
  for (int period : {1, 2, 3, 4, 5, 6, 8, 10, 14}) {
    for (double noise : {0.0, 0.01, 0.03}) {
      for (int heavy : {1, 4}) {  // processes that are heavy at the same time
        Node node = eight_on_two_sockets();
        node.noise = noise;
        node.work = [period, heavy](int step) {
          std::vector<double> work(8, 0.6);
          for (int p = 0; p < heavy; ++p) work[step / period % 2 ? 7 - p : p] = 1.5;
          return work;
        };
        SCOPED_TRACE(testing::Message() << "period " << period << " noise " << noise << " heavy " << heavy);
        const Outcome outcome = with_policy(node, 1000);
        // From five steps on, a stretch is at first long enough to fall for.
        EXPECT_LE(outcome.elapsed, untouched(node, 1000) * (period < 5 ? 1.01 : 1.04));
        if (period < 4) {
          EXPECT_LE(outcome.applied, 6);
        }
      }
    }
  }
}

TEST(Policy, AHeavyProcessThatWandersEveryStepIsLeftAlone) {
  Node node = eight_on_two_sockets();
  node.work = [](int step) {
    std::vector<double> work(8, 0.6);
    work[step % 8] = 1.5;
    return work;
  };
  const Outcome outcome = with_policy(node, 1000);
  EXPECT_LE(outcome.elapsed, untouched(node, 1000) * 1.01);
}

TEST(Policy, UndoesWhatDoesNotHelpAndBacksOff) {
  for (double alpha : {0.0, 0.2}) {
    Node node = eight_on_two_sockets();
    node.alpha = alpha;
    std::vector<double> work(8, 0.1);
    work[2] = 0.15;
    node.work = constant(work);
    const Outcome outcome = with_policy(node, 1000);
    EXPECT_LE(outcome.elapsed, untouched(node, 1000) * 1.02) << "alpha " << alpha;
    EXPECT_LE(outcome.applied, 6) << "alpha " << alpha;
    if (alpha == 0) {
      EXPECT_GE(outcome.undone, 1);
    }
  }
}

/// Whatever moves, all gets slower: nothing that the policy could learn as scaling.
TEST(Policy, BacksOffForLongerEachTime) {
  Policy policy({});
  NodeShape shape{{12}, {{6}, {6}}, 12};
  std::vector<long> undone;
  std::vector<int> threads{6, 6};
  for (int step = 1; step <= 3000; ++step) {
    Window window;
    window.steps = 1;
    window.time = 0.1 * step;
    const bool moved = threads[0] != 6;
    window.elapsed = moved ? 0.125 : 0.12;
    for (int p = 0; p < 2; ++p) {
      ProcessLoad load;
      load.threads = threads[p];
      load.region_wall = (p == 0 ? 0.12 : 0.08) * 6 / threads[p];
      load.parallel = load.region_wall * threads[p];
      window.loads.push_back(load);
    }
    const Verdict verdict = policy.consider(window, shape);
    if (verdict.action == Action::none) continue;
    threads = verdict.plan.threads;
    shape.held = {{threads[0]}, {threads[1]}};
    if (verdict.action == Action::undo) undone.push_back(step);
  }
  ASSERT_GE(undone.size(), 3u);
  EXPECT_LE(undone.size(), 9u);
  for (std::size_t i = 2; i < undone.size(); ++i)
    EXPECT_GT(undone[i] - undone[i - 1], 1.5 * static_cast<double>(undone[i - 1] - undone[i - 2]));
}

TEST(Policy, LearnsHowProcessesScale) {
  Node node = eight_on_two_sockets();
  node.alpha = 0.6;
  std::vector<double> work(8, 0.2);
  work[0] = 0.6;
  node.work = constant(work);
  Policy policy({});
  Simulation(node).run(200, &policy);
  ASSERT_EQ(policy.scaling().size(), 8u);
  EXPECT_NEAR(policy.scaling()[0].alpha, 0.6, 0.15);
}

TEST(Policy, WindowsGrowWhileAllIsQuietAndShrinkOnNews) {
  Node node = eight_on_two_sockets();
  node.work = constant(std::vector<double>(8, 0.06));  // steps of 10 ms
  Policy policy({});
  EXPECT_EQ(policy.steps_wanted(), 1);
  Simulation simulation(node);
  simulation.run(1, &policy);
  EXPECT_EQ(policy.steps_wanted(), 2);  // 20 ms at least
  simulation.run(4000, &policy);
  EXPECT_GT(policy.steps_wanted(), 50);
  EXPECT_LE(policy.steps_wanted(), 110);  // about a second at most
  std::vector<double> work(8, 0.06);
  work[3] = 0.12;
  node.work = constant(work);
  simulation.run(policy.steps_wanted(), &policy);
  EXPECT_EQ(policy.steps_wanted(), 2);
}

TEST(Policy, PlansOnceAtTheGivenStep) {
  Node node = eight_on_two_sockets();
  std::vector<double> work(8, 0.6);
  work[5] = 1.2;
  node.work = constant(work);
  PolicyOptions options;
  options.at = 20;
  const Outcome outcome = with_policy(node, 100, options);
  EXPECT_EQ(outcome.acted, (std::vector<long>{20}));
}

TEST(Policy, PlansAtEachGivenStep) {
  Node node = eight_on_two_sockets();
  node.work = [](int step) {
    std::vector<double> work(8, 0.6);
    work[step / 30 % 8] = 1.2;
    return work;
  };
  PolicyOptions options;
  options.every = 10;
  const Outcome outcome = with_policy(node, 200, options);
  EXPECT_GE(outcome.applied, 5);
  EXPECT_EQ(outcome.undone, 0);
  for (long step : outcome.acted) EXPECT_EQ(step % 10, 0);
  EXPECT_LT(outcome.elapsed, untouched(node, 200));
}

TEST(Policy, EachMoveIsDecidedOrUndecidedInTheEnd) {
  Node node = eight_on_two_sockets();
  // Two moves, right after one another: only the first has windows before it.
  node.work = [](int step) {
    std::vector<double> work(8, 0.6);
    work[0] = 1.2;
    work[5] = step < 21 ? 0.6 : 2.4;
    return work;
  };
  PolicyOptions options;
  options.every = 1;
  Policy policy(options);
  Simulation simulation(node);
  const Outcome outcome = simulation.run(60, &policy);
  EXPECT_GE(outcome.applied, 2);
  EXPECT_GE(outcome.undecided, 1);
  EXPECT_EQ(outcome.helped + outcome.undecided + outcome.undone, outcome.applied);
}

TEST(Policy, SaysWhyNothingCanBeDone) {
  const auto verdict_of = [](std::vector<ProcessLoad> loads, NodeShape shape, double elapsed = 1) {
    Policy policy({});
    Verdict verdict;
    for (int i = 1; i <= 6; ++i) {
      Window window;
      window.steps = 1;
      window.time = i;
      window.elapsed = elapsed;
      window.loads = loads;
      verdict = policy.consider(window, shape);
      EXPECT_EQ(verdict.action, Action::none);
      EXPECT_FALSE(verdict.reason.empty());
      EXPECT_TRUE(std::isfinite(verdict.noise) && std::isfinite(verdict.forecast_gain));
      EXPECT_GE(policy.steps_wanted(), 1);
    }
    return verdict.reason;
  };
  ProcessLoad two;
  two.threads = 2;
  two.parallel = 2;
  two.region_wall = 1;
  ProcessLoad light = two;
  light.parallel = 1;
  light.region_wall = 0.5;
  EXPECT_THAT(verdict_of({two}, {{2}, {{2}}, 2}), testing::HasSubstr("one rank on the node"));
  EXPECT_THAT(verdict_of({two, light, light}, {{2}, {{1}, {1}, {0}}, 2}), testing::HasSubstr("3 ranks on 2 cores"));
  ProcessLoad one = two;
  one.threads = 1;
  EXPECT_THAT(verdict_of({one, light}, {{2}, {{1}, {1}}, 2}), testing::HasSubstr("each rank has one core"));
  ProcessLoad fixed = two, fixed_light = light;
  fixed.fixed = fixed_light.fixed = true;
  EXPECT_THAT(verdict_of({fixed, fixed_light}, {{4}, {{2}, {2}}, 4}),
              testing::HasSubstr("all thread counts are fixed"));
  ProcessLoad in_pool = two;
  in_pool.in_pool = true;
  in_pool.ceiling = 2;
  EXPECT_THAT(verdict_of({in_pool, light}, {{4}, {{2}, {2}}, 4}), testing::HasSubstr("spent in a task pool"));
  ProcessLoad faster_in_pool = in_pool;
  faster_in_pool.region_wall = 0.9;
  faster_in_pool.parallel = 1.8;
  EXPECT_THAT(verdict_of({faster_in_pool, two}, {{4}, {{2}, {2}}, 4}), testing::HasSubstr("balanced as far as"));
  ProcessLoad idle;
  idle.threads = 2;
  EXPECT_THAT(verdict_of({idle, idle}, {{4}, {{2}, {2}}, 4}), testing::HasSubstr("no computation was measured"));
  EXPECT_THAT(verdict_of({two, light}, {{4}, {{2}, {2}}, 4}, 0), testing::HasSubstr("nothing was measured"));
  EXPECT_THAT(verdict_of({}, {}), testing::HasSubstr("nothing was measured"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ProcessLoad broken = two;
  broken.parallel = broken.region_wall = broken.serial = nan;
  verdict_of({broken, broken}, {{4}, {{2}, {2}}, 4});
  verdict_of({two, light}, {{4}, {{2}, {2}}, 4}, nan);
}

TEST(Policy, OneProcessThatNeverComputesGivesItsCores) {
  Node node;
  node.threads = {4, 4};
  node.capacity = {8};
  node.work = constant({0.8, 0});
  EXPECT_EQ(with_policy(node, 20).threads, (std::vector<int>{7, 1}));
}

TEST(Policy, SurvivesAChangingNumberOfProcesses) {
  Policy policy({});
  for (int i = 1; i < 40; ++i) {
    const int n = 2 + i / 4 % 3;
    Window window;
    NodeShape shape{{n * 2}, {}, n * 2};
    for (int p = 0; p < n; ++p) {
      ProcessLoad load;
      load.threads = 2;
      load.parallel = p == 0 ? 4 : 1;
      load.region_wall = load.parallel / 2;
      window.loads.push_back(load);
      shape.held.push_back({2});
    }
    window.steps = 1;
    window.time = i;
    window.elapsed = 2;
    const Verdict verdict = policy.consider(window, shape);
    if (verdict.action != Action::none) {
      EXPECT_EQ(verdict.plan.threads.size(), static_cast<std::size_t>(n));
    }
  }
}

}  // namespace
}  // namespace steelyard::cores
