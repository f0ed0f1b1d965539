// All interleavings of the engine's atomic operations, for a few threads: loops/team.cpp is compiled with this test, with the
// atomics of loops/explorer.h. What the engine needs of a Loop is replaced here, so that nothing depends on time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "loops/explorer.h"
#include "loops/places.h"
#include "loops/team.h"
#include "node/binding.h"

namespace steelyard::loops {

// As the first execution of a loop that nothing is known of.
Loop::Loop(std::string key, Settings settings) : key_(std::move(key)), settings_(settings) {}
Loop::~Loop() = default;
void Loop::prepare(const Shape& shape, Plan& plan, Ticket& ticket) {
  ticket = {};
  ticket.version = ++versions_;
  plan = make_plan(shape, settings_, {});
}
void Loop::completed(const Plan&, const Ticket&, const Execution&) {}
void Loop::recorded(Assignment) {}
std::optional<Place> place_of_this_thread() { return std::nullopt; }

namespace {

using explorer::Explorer;
using explorer::Outcome;
using explorer::Scenario;

std::string text_of(const Outcome& outcome) {
  std::string text = outcome.wrong + " after " + std::to_string(outcome.states) + " states, in the order of threads";
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
  int threads;
  int depth;  ///< loops in progress at a time
  int loops;
  std::uint64_t count;
  std::vector<std::pair<int, Way>> ways = {};  ///< of thread 0: the loop, and what it does there
  Manner manner = Manner::compiled;
};

/// A team that goes through some loops, each of which gives each iteration once, or at most once if it was cancelled.
struct TeamRun {
  explicit TeamRun(const Case& its) : what(its), team(its.threads, its.depth) {
    for (int l = 0; l < its.loops; ++l) {
      loops.emplace_back("loop " + std::to_string(l), Settings{its.strategy, 0.5, 1});
      runs.emplace_back(its.count);
    }
  }
  Way way(int thread, int loop) const {
    for (const auto& [where, way] : what.ways)
      if (thread == 0 && where == loop) return way;
    return Way::whole;
  }
  void go(int thread) {
    for (int l = 0; l < what.loops; ++l) {
      Member& member = team.member(thread);
      if (!member.begin(loops[static_cast<std::size_t>(l)], what.count, what.manner)) failed = true;
      for (Chunk chunk; member.next(chunk);) {
        for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) ++runs[static_cast<std::size_t>(l)].at(i);
        if (way(thread, l) == Way::leaves) break;
        if (way(thread, l) == Way::cancels) member.cancel();
      }
      member.end();
    }
  }
  std::string verdict() const {
    if (failed) return "a thread was refused";
    for (int l = 0; l < what.loops; ++l) {
      const bool whole = way(0, l) == Way::whole;
      for (const int times : runs[static_cast<std::size_t>(l)]) {
        if (times > 1 || (whole && times == 0))
          return "an iteration of loop " + std::to_string(l) + " ran " + std::to_string(times) + " times";
      }
    }
    return {};
  }

  const Case what;
  Team team;
  std::deque<Loop> loops;
  std::deque<std::vector<int>> runs;
  bool failed = false;
};

Outcome explore(const Case& what, std::uint64_t most) {
  Explorer all;
  return all.explore(
      [&] {
        const auto run = std::make_shared<TeamRun>(what);
        Scenario scenario;
        for (int t = 0; t < what.threads; ++t) scenario.threads.emplace_back([run, t] { run->go(t); });
        scenario.verdict = [run] { return run->verdict(); };
        return scenario;
      },
      most);
}

constexpr std::uint64_t kMost = 300000;  // states, some seconds: a case that has more is too large for a test

void check(const Case& what) {
  const Outcome outcome = explore(what, kMost);
  EXPECT_TRUE(outcome.complete) << name_of(what.strategy) << ", " << what.threads << " threads, depth " << what.depth
                                << ", " << what.count << " iterations: " << text_of(outcome);
}

TEST(Exploration, TwoThreadsInTwoLoops) {
  for (const Strategy strategy : {Strategy::steal, Strategy::even, Strategy::hybrid, Strategy::staggered})
    for (const int depth : {1, 2}) check({strategy, 2, depth, 2, 2});
}

TEST(Exploration, TwoThreadsInMoreLoopsThanTheTeamIsDeep) { check({Strategy::even, 2, 2, 3, 2}); }

TEST(Exploration, ALoopThatIsCancelledLeavesNothingToTheNext) {
  for (const Way way : {Way::leaves, Way::cancels})
    for (const Strategy strategy : {Strategy::steal, Strategy::even})
      check({strategy, 2, 1, 2, 2, {{0, way}}, Manner::called});
}

}  // namespace
}  // namespace steelyard::loops
