// SPDX-License-Identifier: BSD-3-Clause
// All interleavings of the engine's atomic operations, for a few threads. The source loops/team.cpp is compiled with
// this test and the atomics of base/explorer.h. A replacement here does what the engine needs of a Loop, so that
// nothing depends on time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/explorer.h"
#include "loops/places.h"
#include "loops/team.h"
#include "node/binding.h"

namespace steelyard::loops {

namespace {
/// Stands for the mutex of a Loop. A call that locks it is one step.
using Lock = explorer::Atomic<std::uint64_t>;
std::map<const Loop*, Lock>& locks() {
  static std::map<const Loop*, Lock> all;
  return all;
}
std::string g_wrong;  ///< about a measured execution of the present run
}  // namespace

// A loop of which nothing is known, so that its plan stays as it is, and each execution of which is measured.
Loop::Loop(std::string key, Settings settings) : key_(std::move(key)), settings_(settings) {
  locks().try_emplace(this, 0);
}
Loop::~Loop() { locks().erase(this); }
void Loop::prepare(const Shape& shape, Plan& plan, Ticket& ticket) {
  locks().at(this).fetch_add(1);
  ticket.measure = true;
  if (ticket.version != 0) return;
  ticket.version = ++versions_;
  plan = make_plan(shape, settings_, {});
}
void Loop::completed(const Plan&, const Ticket&, const Execution& execution) {
  locks().at(this).fetch_add(1);
  std::uint64_t iterations = 0;
  for (const ThreadSample& sample : execution.threads) iterations += sample.own_iterations + sample.stolen;
  if (iterations != execution.count) g_wrong = "measured " + std::to_string(iterations) + " iterations";
}
void Loop::recorded(Assignment) {}
std::optional<Place> place_of_this_thread() { return std::nullopt; }

namespace {

using explorer::Explorer;
using explorer::Outcome;
using explorer::Scenario;

std::string text_of(const Outcome& outcome) {
  std::string text = outcome.wrong + " after " + std::to_string(outcome.runs) + " runs, in the order of threads";
  for (const int thread : outcome.schedule) text += " " + std::to_string(thread);
  return text;
}

/// What a thread does in a loop.
enum class Way {
  whole,    ///< until next() says that nothing is left
  leaves,   ///< ends it after its first chunk
  cancels,  ///< cancels it after its first chunk, and asks on
};

struct Case {
  Strategy strategy;
  int threads;  ///< of a team
  int depth;    ///< loops in progress at a time
  int loops;
  std::uint64_t count;
  std::vector<std::pair<int, Way>> ways = {};  ///< of the first team's thread 0: the loop, and what it does there
  Manner manner = Manner::compiled;
  int teams = 1;  ///< more than one share the record of a single loop, which each executes `loops` times
};

/// Teams that go through some loops, each of which gives each iteration once, or at most once if it was cancelled.
class Run {
 public:
  explicit Run(const Case& its) : what_(its) {
    g_wrong.clear();
    const int records = its.teams > 1 ? 1 : its.loops;
    for (int l = 0; l < records; ++l) loops_.emplace_back("loop " + std::to_string(l), Settings{its.strategy, 0.5, 1});
    for (int t = 0; t < its.teams; ++t) teams_.emplace_back(its.threads, its.depth);
    runs_.assign(static_cast<std::size_t>(its.teams * its.loops), std::vector<int>(its.count));
  }
  void go(int team, int thread) {
    Member& member = teams_[static_cast<std::size_t>(team)].member(thread);
    for (int l = 0; l < what_.loops; ++l) {
      const Way way = thread == 0 ? way_of(team, l) : Way::whole;
      Loop& loop = loops_[static_cast<std::size_t>(l) % loops_.size()];
      if (!member.begin(loop, what_.count, what_.manner)) g_wrong = "a thread was refused";
      for (Chunk chunk; member.next(chunk);) {
        for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) ++runs_of(team, l).at(i);
        if (way == Way::leaves) break;
        if (way == Way::cancels) member.cancel();
      }
      member.end();
    }
  }
  std::string verdict() {
    for (int t = 0; t < what_.teams; ++t) {
      for (int l = 0; l < what_.loops; ++l) {
        const bool whole = way_of(t, l) == Way::whole;
        for (const int times : runs_of(t, l)) {
          if (times > 1 || (whole && times == 0))
            return "an iteration of loop " + std::to_string(l) + " ran " + std::to_string(times) + " times";
        }
      }
    }
    return g_wrong;
  }

 private:
  std::vector<int>& runs_of(int team, int loop) { return runs_[static_cast<std::size_t>(team * what_.loops + loop)]; }
  Way way_of(int team, int loop) const {
    for (const auto& [where, way] : what_.ways)
      if (team == 0 && where == loop) return way;
    return Way::whole;
  }

  const Case what_;
  std::deque<Loop> loops_;
  std::deque<Team> teams_;
  std::vector<std::vector<int>> runs_;
};

constexpr std::uint64_t kMost = 200000;  // runs, some seconds: a case that has more is too large for a test

Outcome explore(const Case& what, explorer::Branches branches = explorer::Branches::races) {
  Explorer all(branches);
  return all.explore(
      [&] {
        const auto run = std::make_shared<Run>(what);
        Scenario scenario;
        for (int team = 0; team < what.teams; ++team)
          for (int t = 0; t < what.threads; ++t) scenario.threads.emplace_back([run, team, t] { run->go(team, t); });
        scenario.verdict = [run] { return run->verdict(); };
        return scenario;
      },
      kMost);
}

void check(const Case& what) {
  const Outcome outcome = explore(what);
  EXPECT_TRUE(outcome.complete) << name_of(what.strategy) << ", " << what.teams << " x " << what.threads
                                << " threads, depth " << what.depth << ", " << what.count
                                << " iterations: " << text_of(outcome);
}

TEST(Exploration, TwoThreadsInTwoLoops) {
  for (const Strategy strategy : {Strategy::steal, Strategy::even, Strategy::hybrid, Strategy::staggered})
    for (const int depth : {1, 2}) check({strategy, 2, depth, 2, 2});
}

TEST(Exploration, TwoThreadsInMoreLoopsThanTheTeamIsDeep) { check({Strategy::even, 2, 2, 3, 2}); }

// Three iterations: one thread has two chunks, so a word in which there is something left can meet the next loop.
TEST(Exploration, ALoopThatIsCancelledLeavesNothingToTheNext) {
  for (const Way way : {Way::leaves, Way::cancels}) {
    check({Strategy::steal, 2, 1, 2, 3, {{0, way}}, Manner::called});
    check({Strategy::even, 2, 1, 2, 2, {{0, way}}, Manner::called});
  }
}

// One loop with stealing has 810 classes of interleavings for a single iteration, so two have 656,100.
TEST(Exploration, ThreeThreadsInOneLoop) {
  for (const Strategy strategy : {Strategy::steal, Strategy::hybrid})
    for (const std::uint64_t count : {1, 3}) check({strategy, 3, 1, 1, count});
}

TEST(Exploration, ThreeThreadsInTwoLoops) {
  for (const Strategy strategy : {Strategy::even, Strategy::staggered})
    for (const int depth : {1, 2}) check({strategy, 3, depth, 2, 3});
}

TEST(Exploration, ThreeThreadsOneOfWhichCancels) {
  for (const Way way : {Way::leaves, Way::cancels}) check({Strategy::steal, 3, 1, 1, 2, {{0, way}}, Manner::called});
  check({Strategy::even, 3, 1, 2, 3, {{0, Way::leaves}}, Manner::called});
}

TEST(Exploration, TwoTeamsInOneLoop) {
  for (const Strategy strategy : {Strategy::steal, Strategy::even})
    check({strategy, 2, 1, 1, 2, {}, Manner::compiled, 2});
}

TEST(Exploration, TwoTeamsInTwoExecutionsOfOneLoop) { check({Strategy::even, 2, 1, 2, 2, {}, Manner::compiled, 2}); }

TEST(Exploration, ATeamThatCancelsLeavesTheOtherTeamAlone) {
  for (const Way way : {Way::leaves, Way::cancels})
    for (const Strategy strategy : {Strategy::steal, Strategy::even})
      check({strategy, 2, 1, 1, 2, {{0, way}}, Manner::called, 2});
}

// Of the explorer itself: the third case lost 174 classes while the explorer chose what to explore as Flanagan and
// Godefroid do.
TEST(Explorer, RunsAsManyClassesAsWithoutAChoiceOfBranches) {
  const Case cases[] = {{Strategy::even, 3, 1, 1, 3},
                        {Strategy::steal, 2, 1, 2, 2, {{0, Way::cancels}}, Manner::called},
                        {Strategy::steal, 3, 1, 1, 2, {{0, Way::cancels}}, Manner::called}};
  for (const Case& what : cases) {
    const Outcome reduced = explore(what), all = explore(what, explorer::Branches::all);
    EXPECT_TRUE(reduced.complete && all.complete);
    EXPECT_EQ(reduced.ended, all.ended) << name_of(what.strategy);
    EXPECT_LT(reduced.runs, all.runs);
  }
}

}  // namespace
}  // namespace steelyard::loops
