// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "loops/loop.h"
#include "loops/policy.h"
#include "loops/simulated_machine.h"

// `auto` in a closed loop with a simulated machine, beside each fixed strategy on the same one.
namespace steelyard::loops {
namespace {

using simulated::Machine;
using simulated::Simulator;
using simulated::Work;

constexpr int kWarm = 20;  // executions that are not compared: while the choice is made

/// A loop that is executed again and again on a machine; both may change on the way.
struct Scenario {
  std::string name;
  Machine machine;
  std::function<const Work&(int)> work;                               ///< by execution
  std::function<void(Machine&, int)> weather = [](Machine&, int) {};  ///< what befalls the machine before one
};

/// Mean ns of executions [kWarm, executions), should there be so many.
double run(const Scenario& scenario, Strategy strategy, int executions, Loop* watched = nullptr) {
  Loop own("simulated", {strategy, 0.9, 0});
  Loop& loop = watched != nullptr ? *watched : own;
  Simulator simulator(scenario.machine, 7);
  Plan plan;
  Loop::Ticket ticket;
  double sum = 0;
  for (int i = 0; i < executions; ++i) {
    scenario.weather(simulator.machine(), i);
    const Work& work = scenario.work(i);
    loop.prepare({work.count(), scenario.machine.threads}, plan, ticket);
    const Execution execution = simulator.execute(plan, work);
    if (ticket.measure) loop.completed(plan, ticket, execution);
    if (i >= kWarm) sum += static_cast<double>(execution.elapsed_ns);
  }
  return executions > kWarm ? sum / (executions - kWarm) : 0;
}

std::function<const Work&(int)> always(Work work) {
  auto kept = std::make_shared<Work>(std::move(work));
  return [kept](int) -> const Work& { return *kept; };
}

std::vector<Scenario> scenarios(int threads) {
  const auto count = static_cast<std::uint64_t>(threads) * 240;
  const double ns = threads * 400e3;  // 0.4 ms where all is level
  const auto flat = [](double) { return 1.0; };
  const auto triangular = [](double place) { return place; };
  const auto hump = [](double at) {
    return [at](double place) { return 0.05 + std::exp(-std::pow((place - at) / 0.12, 2)); };
  };
  Machine even{threads, {}};
  Machine far{threads, {}, 1.6};
  Machine delayed = even, far_delayed = far;
  delayed.slowness.assign(static_cast<std::size_t>(threads), 1.0);
  delayed.slowness[static_cast<std::size_t>(threads) / 2] = 1.10;
  far_delayed.slowness = delayed.slowness;
  auto before = std::make_shared<Work>(Work(count, hump(0.3)).of_total(ns));
  auto after = std::make_shared<Work>(Work(count, hump(0.7)).of_total(ns));
  const auto transient = [](Machine& machine, int i) {
    // Every seventh execution another thread is 8 % slower.
    for (double& slowness : machine.slowness) slowness = 1;
    if (i % 7 == 3) machine.slowness[static_cast<std::size_t>(i * 5) % machine.slowness.size()] = 1.08;
  };
  return {
      {"balanced", even, always(Work(count, flat).of_total(ns))},
      {"triangular", even, always(Work(count, triangular).of_total(ns))},
      {"memory-bound", far, always(Work(count, flat).of_total(ns))},
      {"memory-bound, one thread delayed", far_delayed, always(Work(count, flat).of_total(ns))},
      {"one thread delayed", delayed, always(Work(count, flat).of_total(ns))},
      {"memory-bound, transient noise", far, always(Work(count, flat).of_total(ns)), transient},
      {"short", even, always(Work(count, flat).of_total(threads * 10e3))},
      {"Mandelbrot that shifts", even, [=](int i) -> const Work& { return i < 90 ? *before : *after; }},
  };
}

class Automatic : public testing::TestWithParam<int> {};

TEST_P(Automatic, IsNearTheBestFixedStrategyAndNeverBehindStatic) {
  for (const Scenario& scenario : scenarios(GetParam())) {
    const bool shifts = scenario.name.find("shifts") != std::string::npos;
    double best = std::numeric_limits<double>::max(), even = 0;
    Strategy best_is{};
    for (const Strategy fixed : Policy::candidates) {
      const double ns = run(scenario, fixed, shifts ? 160 : 60);
      if (fixed == Strategy::even) even = ns;
      if (ns < best) best = ns, best_is = fixed;
    }
    Loop loop("simulated");
    const double automatic = run(scenario, Strategy::automatic, shifts ? 160 : 120, &loop);
    const Loop::Regime regime = loop.regimes().at(0);
    const auto told = testing::Message() << scenario.name << ", " << GetParam() << " threads: auto " << automatic / best
                                         << " of the best (" << name_of(best_is) << "), " << automatic / even
                                         << " of static; is " << name_of(regime.policy.next()) << ": "
                                         << regime.policy.reason();
    EXPECT_LE(automatic, best * (shifts ? 1.03 : 1.02)) << told;
    EXPECT_LE(automatic, even * 1.01) << told;
    if (testing::UnitTest::GetInstance()->current_test_info()->value_param() != nullptr)
      RecordProperty(scenario.name, std::to_string(automatic / best));
  }
}

TEST_P(Automatic, ShortLoopsThatAreUnevenAreNotStatic) {
  const int threads = GetParam();
  const auto count = static_cast<std::uint64_t>(threads) * 240;
  const Work triangle = Work(count, [](double place) { return place; }).of_total(threads * 9e3);
  const Work block = Work(count, [](double place) { return place < 0.1 ? 1.0 : 0.01; }).of_total(threads * 10e3);
  for (const Scenario& scenario : {Scenario{"triangular", {threads, {}}, always(triangle)},
                                   Scenario{"in one block", {threads, {}}, always(block)}}) {
    Loop loop("simulated");
    const double stealing = run(scenario, Strategy::steal, 120);
    const double automatic = run(scenario, Strategy::automatic, 120, &loop);
    const Policy policy = loop.regimes().at(0).policy;
    const auto told = testing::Message() << scenario.name << ", " << threads << " threads: is "
                                         << name_of(policy.next()) << ": " << policy.reason() << "; " << policy.resets()
                                         << " times anew";
    EXPECT_LT(stealing, Policy::kShort) << "it is a short loop";
    EXPECT_NE(policy.next(), Strategy::even) << told;
    EXPECT_LE(automatic, stealing * 1.05) << told;
    EXPECT_LE(policy.resets(), 1) << told;
  }
}

TEST_P(Automatic, ShortLoopsThatAreLevelAreStaticWhateverTheNoise) {
  const int threads = GetParam();
  for (const double each : {1e3, 4e3, 12e3}) {
    const Work flat =
        Work(static_cast<std::uint64_t>(threads) * 240, [](double) { return 1.0; }).of_total(threads * each);
    Machine machine{threads, {}};
    machine.noise = 0.08;
    Loop loop("simulated");
    Simulator simulator(machine, 11);
    Plan plan;
    Loop::Ticket ticket;
    int moved = 0;
    constexpr int kExecutions = 4000;
    for (int i = 0; i < kExecutions; ++i) {
      simulator.machine().preempted = i % 50 == 1 ? i % threads : -1;
      simulator.machine().preempted_ns = 50e3;
      loop.prepare({flat.count(), threads}, plan, ticket);
      moved += plan.strategy != Strategy::even ? 1 : 0;
      if (ticket.measure) loop.completed(plan, ticket, simulator.execute(plan, flat));
    }
    const Policy policy = loop.regimes().at(0).policy;
    EXPECT_EQ(policy.next(), Strategy::even) << each << ": " << policy.reason();
    EXPECT_LE(moved, kExecutions / 100) << each << ", anew " << policy.resets();
  }
}

/// What may befall a loop at its start: cold memory, and a thread whose core is taken away in one of the first two
/// executions.
struct Early {
  const char* what;
  double cold = 1;
  int held_in = -1;
};
constexpr std::array kEarly = {Early{"cold memory", 2}, Early{"a thread is held up in the cold execution", 1.5, 0},
                               Early{"a thread is held up in the first warm one", 1, 1},
                               Early{"cold memory, then a thread is held up", 3, 1}};

Scenario with(const Early& early, Scenario scenario) {
  scenario.name += ", " + std::string(early.what);
  scenario.weather = [early](Machine& machine, int i) {
    for (double& slowness : machine.slowness) slowness = i == 0 ? early.cold : 1;
    machine.preempted = i == early.held_in ? machine.threads / 2 : -1;
    machine.preempted_ns = 4e6;
  };
  return scenario;
}

TEST_P(Automatic, FindsStaticWhateverBefellTheFirstExecutions) {
  const auto count = static_cast<std::uint64_t>(GetParam()) * 240;
  const Work flat = Work(count, [](double) { return 1.0; }).of_total(GetParam() * 400e3);
  const Scenario level{"memory-bound", {GetParam(), {}, 1.6}, always(flat)};
  for (const Early& early : kEarly) {
    const Scenario scenario = with(early, level);
    Loop loop("simulated");
    const double automatic = run(scenario, Strategy::automatic, 60, &loop);
    const Loop::Regime regime = loop.regimes().at(0);
    EXPECT_EQ(regime.policy.next(), Strategy::even) << scenario.name << ": " << regime.policy.reason();
    EXPECT_LE(automatic, run(scenario, Strategy::even, 60) * 1.01) << scenario.name;
  }
}

TEST_P(Automatic, DoesNotTryStaticForThatWhereItIsBad) {
  const auto count = static_cast<std::uint64_t>(GetParam()) * 240;
  const Work triangle = Work(count, [](double place) { return place; }).of_total(GetParam() * 400e3);
  const Scenario rising{"triangular", {GetParam(), {}}, always(triangle)};
  for (const Early& early : kEarly) {
    const Scenario scenario = with(early, rising);
    Loop loop("simulated");
    run(scenario, Strategy::automatic, History::kRing, &loop);
    const Loop::Regime regime = loop.regimes().at(0);
    for (int i = 0; i < regime.history.kept(); ++i)
      EXPECT_NE(regime.history.last(i).strategy, Strategy::even) << scenario.name << ", " << i << " from the end";
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Automatic, testing::Values(2, 6, 16, 48));

Observation seen(double ns, double even = 0, double level = 0, double stolen = 0, double idle = 0) {
  return {ns, 1000, even, level, stolen, idle};
}

/// Executions of a loop that takes 12 us where iterations move, and `even` ns where not.
void execute_short(Policy& policy, double even, int executions) {
  for (int i = 0; i < executions; ++i) {
    const bool still = policy.next() == Strategy::even;
    policy.observe(seen(still ? even : 12e3, even, 11.5e3, still ? 0 : 0.2, still ? 0.4 : 0.01));
  }
}

TEST(Policy, BeginsWithRangesAndStealing) { EXPECT_EQ(Policy(decide::Settings()).next(), Strategy::steal); }

TEST(Policy, TriesNothingThatTheMeasurementsSpeakAgainst) {
  Policy policy{decide::Settings()};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(policy.next(), Strategy::steal);
    policy.observe(seen(1e6, 2e6, 0.99e6, 0.005, 0.001));  // static would take twice as long...
    if (i == 0) continue;
    if (policy.next() != Strategy::steal) break;
  }
  // ... so the only other thing that it looks at are ranges that follow the load.
  EXPECT_EQ(policy.next(), Strategy::adaptive);
}

TEST(Policy, AShortLoopIsComparedWhereStaticIsForecastToBeMuchSlower) {
  for (const double even : {19e3, 30e3, 300e3}) {
    Policy policy{decide::Settings()};
    execute_short(policy, even, 200);
    EXPECT_TRUE(policy.settled()) << even;
    EXPECT_NE(policy.next(), Strategy::even) << even << ": " << policy.reason();
    EXPECT_EQ(policy.resets(), 0) << even;
  }
  Policy known({}, Strategy::even);  // by an earlier run
  execute_short(known, 19e3, 200);
  EXPECT_NE(known.next(), Strategy::even) << known.reason();
}

TEST(Policy, AShortStaticLoopThatHasBecomeUnevenIsComparedInTheEnd) {
  Policy policy{decide::Settings()};
  for (int i = 0; i < 50; ++i) policy.observe(seen(12e3, 12e3, 11.5e3));
  ASSERT_EQ(policy.next(), Strategy::even);
  execute_short(policy, 19e3, 50);
  EXPECT_NE(policy.next(), Strategy::even) << policy.reason();
}

TEST(Policy, AShortLoopWithoutAForecastDoesNotSwayForEver) {
  // 15 us where iterations move, 100 us where not, and nothing known of places.
  Policy policy{decide::Settings()};
  int resets = 0;
  for (int i = 0; i < 4000; ++i) {
    const bool still = policy.next() == Strategy::even;
    resets += policy.observe(still ? seen(100e3, 0, 0, 0, 0.8) : seen(15e3, 0, 0, 0.5, 0.01)) ? 1 : 0;
  }
  EXPECT_EQ(resets, 1);
  EXPECT_NE(policy.next(), Strategy::even) << policy.reason();
}

TEST(Policy, ShortLoopsBecomeStaticAtOnceAndLongOnesAreLookedAtAgain) {
  Policy policy{decide::Settings()};
  policy.observe(seen(90e3));
  policy.observe(seen(8e3));
  EXPECT_EQ(policy.next(), Strategy::even);
  EXPECT_TRUE(policy.settled());
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(policy.observe(seen(i % 3 == 0 ? 2e3 : 15e3)));
  EXPECT_EQ(policy.next(), Strategy::even);
  bool reset = false;
  for (int i = 0; i < 20 && !reset; ++i) reset = policy.observe(seen(5e6, 5e6, 3e6, 0, 0.4));
  EXPECT_TRUE(reset);
  EXPECT_EQ(policy.next(), Strategy::steal);
}

/// Feeds a policy with what each candidate takes, until it has settled; how many executions that took.
int settle(Policy& policy, const std::array<double, Policy::kCandidates>& ns) {
  int executions = 0;
  while (!policy.settled() && executions < 300) {
    const auto arm =
        static_cast<std::size_t>(std::ranges::find(Policy::candidates, policy.next()) - Policy::candidates.begin());
    policy.observe(seen(ns[arm], 1.01e6, 1e6, 0.1, 0.1));
    ++executions;
  }
  return executions;
}

TEST(Policy, DoesNotSearchForGainsBelowTheExplorationBudget) {
  Policy coarse(decide::Settings{.exploration = 0.2}), fine(decide::Settings{.exploration = 0});
  EXPECT_LT(settle(coarse, {1e6, 1e6, 1e6, 1e6}), 100);
  EXPECT_EQ(settle(fine, {1e6, 1e6, 1e6, 1e6}), 300) << "not settled";
}

TEST(Policy, FindsEachOfItsCandidates) {
  for (std::size_t best = 0; best < Policy::kCandidates; ++best) {
    std::array<double, Policy::kCandidates> ns = {1.05e6, 1.06e6, 1.05e6, 1.06e6};
    ns[best] = 1.0e6;
    Policy policy{decide::Settings()};
    EXPECT_LE(settle(policy, ns), 100);
    EXPECT_EQ(policy.next(), Policy::candidates[best]);
  }
}

TEST(Policy, ExecutesHopelessCandidatesWithinTheBudgetOnly) {
  Policy policy{decide::Settings()};
  EXPECT_LE(settle(policy, {3e6, 3e6, 1e6, 3e6}), 30);
  EXPECT_EQ(policy.next(), Strategy::steal);
}

TEST(Policy, TellsWhatItsTrialsHaveGained) {
  Policy policy{decide::Settings()};
  EXPECT_FALSE(policy.gain());
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(policy.settled() || !policy.gain()) << "not before it is settled";
    const bool even = policy.next() == Strategy::even;
    policy.observe({(even ? 100e3 : 90e3) * (1 + 0.01 * (i % 3)), 100, 95e3, 94e3, 0, 0});
  }
  ASSERT_TRUE(policy.gain());
  EXPECT_EQ(policy.next(), Strategy::steal);
  EXPECT_EQ(policy.gain()->against, Strategy::even);
  EXPECT_NEAR(policy.gain()->value, 0.1, 0.03);
  EXPECT_GT(policy.gain()->interval.low, 0) << "statistically significant";
  EXPECT_TRUE(policy.gain()->interval.contains(0.1));

  Policy alone{decide::Settings()};
  for (int i = 0; i < 10; ++i) alone.observe({90e3, 100, 300e3, 300e3, 0, 0});
  ASSERT_TRUE(alone.settled());
  EXPECT_FALSE(alone.gain()) << "nothing else was tried";
  EXPECT_FALSE(Policy({}, Strategy::guided).gain()) << "measured in another run";
}

TEST(Policy, OfEquallyFastOnesTakesTheOneThatMovesLeast) {
  Policy policy{decide::Settings()};
  settle(policy, {1e6, 1e6, 0.999e6, 0.999e6});
  EXPECT_EQ(policy.next(), Strategy::even);
}

TEST(Policy, NoticesAChangeAndADriftButNotNoise) {
  const std::array<double, Policy::kCandidates> ns = {1e6, 1.1e6, 1.1e6, 1.1e6};
  Policy noisy{decide::Settings()};
  settle(noisy, ns);
  for (int i = 0; i < 500; ++i) ASSERT_FALSE(noisy.observe(seen(i % 9 == 0 ? 1.5e6 : 1e6 + 1e4 * (i % 3)))) << i;

  Policy changed{decide::Settings()};
  settle(changed, ns);
  int until = 0;
  while (until < 50 && !changed.observe(seen(1.3e6))) ++until;
  EXPECT_LE(until, 4);
  EXPECT_EQ(changed.next(), Strategy::steal) << "begins anew";

  Policy drifted{decide::Settings()};
  settle(drifted, ns);
  until = 0;
  while (until < 100 && !drifted.observe(seen(1.06e6))) ++until;
  EXPECT_LE(until, 40) << "never stays behind for long";
}

TEST(Policy, ALoopThatChangesAllTheTimeIsNotExploredAllTheTime) {
  Policy policy{decide::Settings()};
  int resets = 0;
  for (int i = 0; i < 4000; ++i) resets += policy.observe(seen(i / 40 % 2 == 0 ? 1e6 : 2e6, 3e6, 1e6, 0.1, 0.001));
  EXPECT_LE(resets, 40);
  EXPECT_GE(resets, 1);
}

TEST(Policy, WhatWasChosenLastIsKeptWhileAllIsComparedAnew) {
  std::array<double, Policy::kCandidates> ns = {1.5e6, 1.0e6, 1.2e6, 1.2e6};
  Policy policy{decide::Settings()};
  settle(policy, ns);
  ASSERT_EQ(policy.next(), Strategy::adaptive);
  for (double& each : ns) each *= 4;
  const Observation changed{4e6, 1000, 4e6, 4e6, 0, 0};
  for (int i = 0; i < 10 && policy.settled(); ++i) policy.observe(changed);
  ASSERT_FALSE(policy.settled());
  EXPECT_EQ(policy.best(), Strategy::adaptive) << "for a run that ends now";
  std::swap(ns[0], ns[1]);
  settle(policy, ns);
  EXPECT_EQ(policy.best(), policy.next());
  Policy late{decide::Settings()};
  late.remember(Strategy::guided);
  EXPECT_EQ(late.best(), Strategy::guided);
  EXPECT_EQ(late.next(), Strategy::steal) << "it has begun otherwise";
}

TEST(Policy, StartsWithWhatAnEarlierRunHasFoundAndComparesIt) {
  for (std::size_t known = 0; known < Policy::kCandidates; ++known) {
    for (std::size_t best = 0; best < Policy::kCandidates; ++best) {
      std::array<double, Policy::kCandidates> ns = {1.05e6, 1.06e6, 1.05e6, 1.06e6};
      ns[best] = 1.0e6;
      Policy policy({}, Policy::candidates[known]);
      EXPECT_EQ(policy.next(), Policy::candidates[known]);
      EXPECT_FALSE(policy.settled());
      EXPECT_EQ(policy.best(), Policy::candidates[known]) << "a run that is too short to compare must not lose it";
      EXPECT_LE(settle(policy, ns), 100);
      EXPECT_EQ(policy.next(), Policy::candidates[best]) << "began with " << name_of(Policy::candidates[known]);
      EXPECT_EQ(policy.best(), policy.next());
    }
  }
  EXPECT_EQ(Policy({}, Strategy::hybrid).next(), Strategy::steal) << "no candidate";
  EXPECT_FALSE(Policy({}, Strategy::hybrid).best());
}

TEST(History, ForgetsTheColdExecutionAtTheNextOne) {
  const Work work = Work(4000, [](double) { return 1.0; }).of_total(4e6);
  Simulator cold({4, std::vector<double>(4, 3.0)}, 3), warm({4, {}}, 3);
  const Plan plan = make_plan({4000, 4}, {Strategy::steal}, {});
  History history(4);
  history.add(plan, cold.execute(plan, work));
  EXPECT_NEAR(history.forecast_level(4000), 3e6, 3e5) << "better than nothing";
  history.add(plan, warm.execute(plan, work));
  EXPECT_NEAR(history.forecast_level(4000), 1e6, 1e5);
  EXPECT_NEAR(history.measured().iteration_ns, 1e3, 1e2);

  History again(4);
  again.restore(history.measured(), history.executions(), history.mean_ns(), history.profile_count());
  again.add(plan, cold.execute(plan, work));
  EXPECT_NEAR(again.forecast_level(4000), 1e6, 1e5) << "an earlier run knew better";
}

TEST(Loop, TiedLoopsHaveTheSameBoundaries) {
  Loop a("a", {Strategy::adaptive, 0, 0}), b("b", {Strategy::adaptive, 0, 0});
  a.tie(b);
  const Work rising = Work(4000, [](double place) { return place; }).of_total(4e6);
  const Work level = Work(4000, [](double) { return 1.0; }).of_total(4e6);
  Simulator simulator({4, {}}, 3);
  Plan plan_a, plan_b;
  Loop::Ticket ticket_a, ticket_b;
  for (int i = 0; i < 12; ++i) {
    a.prepare({4000, 4}, plan_a, ticket_a);
    a.completed(plan_a, ticket_a, simulator.execute(plan_a, rising));
    b.prepare({4000, 4}, plan_b, ticket_b);
    b.completed(plan_b, ticket_b, simulator.execute(plan_b, level));
  }
  a.prepare({4000, 4}, plan_a, ticket_a);
  b.prepare({4000, 4}, plan_b, ticket_b);
  EXPECT_EQ(plan_a.boundaries, plan_b.boundaries);
  // The sum of both costs (1/2 + place): equal parts of place + place^2 = i / 2.
  for (int t = 1; t < 4; ++t) {
    const double wanted = (std::sqrt(1 + 2.0 * t) - 1) / 2;
    EXPECT_NEAR(static_cast<double>(plan_a.boundaries[static_cast<std::size_t>(t)]) / 4000, wanted, 0.02);
  }
}

TEST(Loop, GroupsThatAreTiedToEachOtherBecomeOne) {
  const Settings adaptive = {Strategy::adaptive, 0, 0};
  Loop a("a", adaptive), b("b", adaptive), c("c", adaptive), d("d", adaptive);
  const std::array<Loop*, 4> loops = {&a, &b, &c, &d};
  const Work rising = Work(4000, [](double place) { return place; }).of_total(4e6);
  const Work falling = Work(4000, [](double place) { return 1 - place; }).of_total(4e6);
  Simulator simulator({4, {}}, 3);
  std::array<Plan, 4> plans;
  std::array<Loop::Ticket, 4> tickets;
  const auto practise = [&] {
    for (int times = 0; times < 12; ++times) {
      for (std::size_t i = 0; i < 4; ++i) {
        loops[i]->prepare({4000, 4}, plans[i], tickets[i]);
        loops[i]->completed(plans[i], tickets[i], simulator.execute(plans[i], i < 2 ? rising : falling));
      }
    }
    for (std::size_t i = 0; i < 4; ++i) loops[i]->prepare({4000, 4}, plans[i], tickets[i]);
  };
  a.tie(b);
  c.tie(d);
  practise();
  EXPECT_EQ(plans[0].boundaries, plans[1].boundaries);
  EXPECT_EQ(plans[2].boundaries, plans[3].boundaries);
  EXPECT_NE(plans[0].boundaries, plans[3].boundaries);
  b.tie(c);
  practise();
  // The sum is level.
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plans[i].boundaries, plans[0].boundaries) << i;
    for (std::size_t t = 1; t < 4; ++t)
      EXPECT_NEAR(static_cast<double>(plans[i].boundaries[t]), 1000.0 * static_cast<double>(t), 100) << i;
  }
  // Tied twice, and the other way round.
  c.tie(b);
  d.tie(a);
  practise();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(plans[i].boundaries, plans[0].boundaries) << i;
}

TEST(Loop, SettledLoopsAreMeasuredAsRarelyAsTheirLengthAllows) {
  for (const double ns : {5e3, 500e3}) {
    Loop loop("test");
    const Work work = Work(4000, [](double) { return 1.0; }).of_total(4 * ns);
    Simulator simulator({4, {}}, 3);
    Plan plan;
    Loop::Ticket ticket;
    int measured = 0;
    for (int i = 0; i < 640; ++i) {
      loop.prepare({4000, 4}, plan, ticket);
      if (!ticket.measure) continue;
      ++measured;
      loop.completed(plan, ticket, simulator.execute(plan, work));
    }
    if (ns > 1e5)
      EXPECT_EQ(measured, 640);
    else
      EXPECT_LE(measured, 60);
  }
}

/// Mean time of an execution, after some that the loop learns from.
double mean_ns(Settings settings, const Work& work, const Machine& machine) {
  Loop loop("test", settings);
  Simulator simulator(machine, 3);
  Plan plan;
  Loop::Ticket ticket;
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    loop.prepare({work.count(), machine.threads}, plan, ticket);
    const Execution execution = simulator.execute(plan, work);
    loop.completed(plan, ticket, execution);
    if (i >= 20) sum += static_cast<double>(execution.elapsed_ns) / 20;
  }
  return sum;
}

TEST(Loop, TheModelsStaticFractionIsAsFastAsTheBestGivenOne) {
  const Work level = Work(4000, [](double) { return 1.0; }).of_total(4e6);
  const Work rising = Work(4000, [](double place) { return place; }).of_total(4e6);
  const std::pair<Strategy, Strategy> pairs[] = {{Strategy::tuned, Strategy::hybrid},
                                                 {Strategy::combined, Strategy::staggered}};
  for (const Machine& machine : {Machine{4, {}}, Machine{4, {1, 1, 1.2, 1}}, Machine{4, {1, 1.5, 1, 1}}}) {
    for (const Work* work : {&level, &rising}) {
      for (const auto& [modelled, given] : pairs) {
        double best = std::numeric_limits<double>::max();
        for (int percent = 0; percent <= 100; percent += 5)
          best = std::min(best, mean_ns({given, percent / 100.0}, *work, machine));
        EXPECT_LE(mean_ns({modelled}, *work, machine), 1.02 * best)
            << name_of(modelled) << (work == &level ? ", level, " : ", rising, ") << machine.slowness.size();
      }
    }
  }
}

TEST(Loop, CombinedGivesSlackAway) {
  Loop loop("test", {Strategy::combined, 0, 0});
  const Work work = Work(4000, [](double) { return 1.0; }).of_total(4e6);
  Machine machine{4, {1, 1, 1.2, 1}};
  Simulator simulator(machine, 3);
  Plan plan;
  Loop::Ticket ticket;
  for (int i = 0; i < 60; ++i) {
    loop.prepare({4000, 4}, plan, ticket);
    loop.completed(plan, ticket, simulator.execute(plan, work));
  }
  loop.prepare({4000, 4}, plan, ticket);
  const double without = plan.static_fraction;
  EXPECT_LT(without, 0.95) << "20 % of one thread's time want dynamic work";
  loop.set_slack(10'000'000);
  loop.completed(plan, ticket, simulator.execute(plan, work));
  loop.prepare({4000, 4}, plan, ticket);
  EXPECT_EQ(plan.static_fraction, 1) << "more slack than the loop is long";
}

}  // namespace
}  // namespace steelyard::loops
