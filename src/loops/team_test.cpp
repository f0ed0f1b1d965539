// SPDX-License-Identifier: BSD-3-Clause
#include "loops/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <numeric>
#include <random>
#include <thread>

#include "loops/gathering.h"

namespace steelyard::loops {
namespace {

using Log = std::vector<std::vector<Assignment::Piece>>;  // by loop

/// Each thread of a team goes through all loops. What it got, by thread and loop.
template <class Body>
std::vector<Log> run(Team& team, Body&& body) {
  std::vector<Log> logs(static_cast<std::size_t>(team.threads()));
  std::vector<std::thread> threads;
  for (int t = 0; t < team.threads(); ++t)
    threads.emplace_back([&, t] { body(team.member(t), logs[static_cast<std::size_t>(t)], t); });
  for (std::thread& thread : threads) thread.join();
  return logs;
}

/// One loop, to its end. Some chunks take long, so that there is something to steal.
void execute(Member& member, Loop& loop, std::uint64_t count, Log& log, unsigned seed) {
  std::minstd_rand random(seed + 1);
  ASSERT_TRUE(member.begin(loop, count));
  auto& pieces = log.emplace_back();
  for (Chunk chunk; member.next(chunk);) {
    pieces.push_back({chunk.begin, chunk.end});
    if (random() % 16 == 0) std::this_thread::yield();
  }
  Chunk none;
  EXPECT_FALSE(member.next(none)) << "nothing comes after the end";
  member.end();
}

Assignment of(const std::vector<Log>& logs, std::size_t loop, std::uint64_t count) {
  Assignment assignment{count, {}};
  for (const Log& log : logs) assignment.threads.push_back(log.at(loop));
  return assignment;
}

std::string text(const Assignment& assignment) {
  std::string words;
  for (const auto& thread : assignment.threads) {
    for (const auto& piece : thread) words += std::to_string(piece.begin) + "-" + std::to_string(piece.end) + " ";
    words += "| ";
  }
  return words.substr(0, 2000);
}

TEST(Team, EachIterationRunsExactlyOnceUnderEveryStrategy) {
  // No barrier between loops: threads are several loops apart. The same few instances serve all of them.
  const std::vector<std::uint64_t> counts = {0, 1, 2, 6, 7, 8, 100, 1000, 3, 4097, 0, 1, 65537};
  for (const int threads : {1, 2, 3, 7}) {
    for (int s = 0; s < kStrategies; ++s) {
      for (const std::uint64_t chunk : {0, 1, 5}) {
        Loop loop("test", {static_cast<Strategy>(s), 0.7, chunk});
        Team team(threads, 1 + s % 4);
        const auto logs = run(team, [&](Member& member, Log& log, int t) {
          for (std::size_t i = 0; i < counts.size(); ++i)
            execute(member, loop, counts[i], log, static_cast<unsigned>(i) * 8 + static_cast<unsigned>(t));
        });
        for (std::size_t i = 0; i < counts.size(); ++i) {
          const Assignment had = of(logs, i, counts[i]);
          ASSERT_TRUE(had.complete()) << strategy_names()[static_cast<std::size_t>(s)] << ", " << threads
                                      << " threads, loop " << i << ": " << text(had);
        }
      }
    }
  }
}

TEST(Team, AnyCountUpToTheLast) {
  for (const std::uint64_t count : {UINT64_C(0xFFFFFFFE), UINT64_C(0xFFFFFFFF), UINT64_C(0x100000000),
                                    UINT64_C(0x100000001), UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_MAX - 1, UINT64_MAX}) {
    for (const Strategy strategy : {Strategy::even, Strategy::hybrid, Strategy::staggered, Strategy::guided,
                                    Strategy::factoring, Strategy::steal}) {
      Loop loop("test", {strategy, 0.5, count / 500});
      Team team(3);
      const auto logs = run(team, [&](Member& member, Log& log, int t) {
        for (unsigned i = 0; i < 3; ++i) execute(member, loop, count, log, i * 8 + static_cast<unsigned>(t));
      });
      for (std::size_t i = 0; i < 3; ++i) {
        const Assignment had = of(logs, i, count);
        ASSERT_TRUE(had.complete()) << name_of(strategy) << ", " << count << ": " << text(had);
      }
    }
  }
}

TEST(Team, ManyLoopsManyTimesWithChangingPlans) {
  Loop first("first"), second("second", {Strategy::tuned, 0.5, 0}), third("third", {Strategy::combined, 0.5, 3});
  first.tie(second);
  Team team(3, 3);
  constexpr int kTimes = 1500;
  const auto logs = run(team, [&](Member& member, Log& log, int t) {
    for (int i = 0; i < kTimes; ++i) {
      Loop& loop = i % 3 == 0 ? first : i % 3 == 1 ? second : third;
      if (t == 1 && i % 50 == 0) {
        ASSERT_TRUE(first.set({static_cast<Strategy>(i / 50 % kStrategies), 0.3, 0}));
      }
      if (t == 2 && i % 7 == 0) second.set_slack(i);
      execute(member, loop, static_cast<std::uint64_t>(200 + i % 5), log, static_cast<unsigned>(i + t));
    }
  });
  for (int i = 0; i < kTimes; ++i) {
    const Assignment had = of(logs, static_cast<std::size_t>(i), static_cast<std::uint64_t>(200 + i % 5));
    ASSERT_TRUE(had.complete()) << i << ": " << text(had);
  }
}

TEST(Team, OneThreadThatIsHeldUpIsRelieved) {
  Loop loop("test", {Strategy::steal, 0, 1});
  Team team(2);
  std::barrier<> both(2);
  const auto logs = run(team, [&](Member& member, Log& log, int t) {
    ASSERT_TRUE(member.begin(loop, 1000));
    auto& pieces = log.emplace_back();
    Chunk chunk;
    if (t == 0) {
      // Takes one and does not come back before all the rest is done.
      ASSERT_TRUE(member.next(chunk));
      pieces.push_back({chunk.begin, chunk.end});
      both.arrive_and_wait();
      both.arrive_and_wait();
    } else {
      both.arrive_and_wait();
    }
    while (member.next(chunk)) pieces.push_back({chunk.begin, chunk.end});
    member.end();
    if (t == 1) both.arrive_and_wait();
  });
  EXPECT_TRUE(of(logs, 0, 1000).complete());
  EXPECT_EQ(logs[0][0].size(), 1U);
  Loop::Regime regime;
  ASSERT_TRUE(loop.find({1000, 2}, regime));
  const Execution& execution = regime.history.last(0);
  EXPECT_EQ(execution.threads[0].own_iterations, 1U);
  EXPECT_EQ(execution.threads[1].own_iterations, 500U);
  EXPECT_EQ(execution.threads[1].stolen, 499U);
  EXPECT_GT(execution.threads[1].idle_ns + execution.threads[0].busy_ns, 0);
}

TEST(Team, GuidedChunksBecomeSmallerDownToTheSizeAskedFor) {
  for (const std::uint64_t least : {1, 7, 100}) {
    Loop loop("test", {Strategy::guided, 0, least});
    Team team(2);
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::uint64_t left = 1000;
      Member& member = team.member(0);
      ASSERT_TRUE(member.begin(loop, left));
      for (Chunk chunk; member.next(chunk);) {
        const std::uint64_t size = chunk.end - chunk.begin;
        EXPECT_EQ(chunk.begin, 1000 - left);
        EXPECT_EQ(size, std::min(left, std::max(least, (left + 3) / 4)));
        left -= size;
      }
      EXPECT_EQ(left, 0U);
      member.end();
      ASSERT_TRUE(team.member(1).begin(loop, 1000));
      team.member(1).end();
    }
  }
}

TEST(Team, AVictimThatHasNotComeYetIsRobbedToo) {
  Loop loop("test", {Strategy::steal, 0, 1});
  Team team(2);
  std::atomic<bool> done = false;
  const auto logs = run(team, [&](Member& member, Log& log, int t) {
    while (t == 0 && !done) std::this_thread::yield();
    execute(member, loop, 100, log, 0);
    done = true;
  });
  EXPECT_TRUE(of(logs, 0, 100).complete());
  EXPECT_TRUE(logs[0][0].empty());
}

TEST(Team, OfSeveralTeamsEachHasItsOwnLoops) {
  Loop shared("shared", {Strategy::steal, 0, 2});
  std::vector<std::thread> teams;
  for (int i = 0; i < 3; ++i) {
    teams.emplace_back([&, i] {
      Team outer(2);
      const auto logs = run(outer, [&](Member& member, Log& log, int) {
        for (int times = 0; times < 30; ++times) {
          ASSERT_TRUE(member.begin(shared, 5));
          auto& pieces = log.emplace_back();
          for (Chunk chunk; member.next(chunk);) {
            pieces.push_back({chunk.begin, chunk.end});
            // A loop of the same record inside of it, in a team of one.
            Team inner(1);
            Log inside;
            execute(inner.member(0), shared, 7, inside, 0);
            EXPECT_TRUE((Assignment{7, {inside[0]}}).complete());
          }
          member.end();
        }
      });
      for (std::size_t l = 0; l < 30; ++l) EXPECT_TRUE(of(logs, l, 5).complete()) << i;
    });
  }
  for (std::thread& team : teams) team.join();
}

TEST(Team, ACancelledLoopLeavesNothingToTheNext) {
  for (const Strategy strategy : {Strategy::even, Strategy::steal, Strategy::hybrid, Strategy::guided}) {
    Loop loop("test", {strategy, 0.2, 1});
    Team team(3, 2);
    std::atomic<int> started = 0;
    const auto logs = run(team, [&](Member& member, Log& log, int t) {
      for (unsigned i = 0; i < 40; ++i) {
        ASSERT_TRUE(member.begin(loop, 1000));
        Chunk chunk;
        for (int taken = 0; member.next(chunk); ++taken) {
          ++started;
          // One thread ends early, which is the same as to cancel.
          if (taken == 3 && t == 1) break;
        }
        member.end();
        execute(member, loop, 500, log, i);
      }
    });
    for (std::size_t i = 0; i < 40; ++i) ASSERT_TRUE(of(logs, i, 500).complete()) << name_of(strategy) << ' ' << i;
    EXPECT_GT(started, 0);
  }
}

TEST(Team, AfterACancelNoChunkIsGiven) {
  Loop loop("test", {Strategy::steal, 0, 1});
  for (const int threads : {1, 2}) {
    Team team(threads);
    Member& member = team.member(0);
    ASSERT_TRUE(member.begin(loop, 100));
    Chunk chunk;
    if (threads > 1) {
      ASSERT_TRUE(member.next(chunk));
    }
    member.cancel();
    EXPECT_FALSE(member.next(chunk));
    member.cancel();
    member.end();
    EXPECT_FALSE(member.inside());
    member.cancel();
    EXPECT_FALSE(member.next(chunk)) << "outside of a loop";
    member.end();
  }
}

TEST(Team, MistakesAreSentencesAndNobodyHangs) {
  Loop loop("mine.cpp:7"), other("other.cpp:9");
  Team team(2, 1);
  ASSERT_TRUE(team.member(0).begin(loop, 10));
  const auto again = team.member(0).begin(loop, 10);
  EXPECT_FALSE(again);
  EXPECT_NE(again.sentence().find("not ended"), std::string::npos) << again.sentence();
  const auto mixed = team.member(1).begin(other, 10);
  EXPECT_FALSE(mixed);
  EXPECT_NE(mixed.sentence().find("mine.cpp:7"), std::string::npos) << mixed.sentence();
  EXPECT_NE(mixed.sentence().find("other.cpp:9"), std::string::npos);
  Chunk chunk;
  EXPECT_FALSE(team.member(1).next(chunk));
  EXPECT_FALSE(team.member(0).next(chunk)) << "the loop is given up, not run by one of two";
  team.member(0).end();
  // The team is as good as new, even with a single instance.
  const auto logs = run(team, [&](Member& member, Log& log, int) { execute(member, loop, 10, log, 0); });
  EXPECT_TRUE(of(logs, 0, 10).complete());
  // Another count is as wrong as another loop.
  ASSERT_TRUE(team.member(1).begin(loop, 10));
  EXPECT_FALSE(team.member(0).begin(loop, 0));
  team.member(1).end();
  // So are other bounds.
  ASSERT_TRUE(team.member(1).begin(loop, 10, Manner::called, 5));
  const auto elsewhere = team.member(0).begin(loop, 10, Manner::called, 6);
  EXPECT_NE(elsewhere.sentence().find("other bounds"), std::string::npos) << elsewhere.sentence();
  team.member(1).end();
}

TEST(Team, AReplayRepeatsTheAssignmentExactly) {
  Loop recorded("test", {Strategy::steal, 0, 3});
  recorded.record_assignments(true);
  Team team(3);
  auto logs = run(team, [&](Member& member, Log& log, int t) {
    for (unsigned i = 0; i < 5; ++i) execute(member, recorded, 300, log, i + 31 * static_cast<unsigned>(t));
  });
  ASSERT_EQ(recorded.assignments().size(), 1U);
  const Assignment kept = recorded.assignments()[0];
  ASSERT_TRUE(kept.complete());
  // What is kept is the last one, with chunks that adjoin joined.
  const auto joined = [](const std::vector<Assignment::Piece>& pieces) {
    std::vector<Assignment::Piece> result;
    for (const auto& piece : pieces) {
      if (!result.empty() && result.back().end == piece.begin)
        result.back().end = piece.end;
      else
        result.push_back(piece);
    }
    return result;
  };
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(kept.threads[t], joined(logs[t][4]));

  Loop again("test");
  ASSERT_TRUE(again.replay(kept));
  logs = run(team, [&](Member& member, Log& log, int t) {
    for (unsigned i = 0; i < 20; ++i) execute(member, again, 300, log, i * 7 + static_cast<unsigned>(t));
  });
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(of(logs, i, 300), kept) << i;

  Assignment broken = kept;
  broken.threads[0].push_back({5, 6});
  const auto refused = again.replay(broken);
  EXPECT_FALSE(refused);
  EXPECT_NE(refused.sentence().find("exactly once"), std::string::npos);
}

// ------------------------------------------------------------------------------------------------ gatherings

/// One loop as a thread of a region; its part of the iterations.
std::uint64_t take_all(Gathering& gathering, const openmp::Position& here) {
  Gathering::Seat* seat = nullptr;
  const auto status = gathering.begin(here, 1000, seat);
  EXPECT_TRUE(status) << status.sentence();
  if (!status) return 0;
  std::uint64_t iterations = 0;
  for (Chunk chunk; Gathering::member(*seat).next(chunk);) iterations += chunk.end - chunk.begin;
  Gathering::end(*seat);
  return iterations;
}

TEST(Gathering, RegionsMayHaveOtherThreadsEachTime) {
  Loop loop("test");
  Gathering gathering(loop, true);
  for (int region = 0; region < 30; ++region) {
    const int size = 2 + region % 3;
    std::atomic<std::uint64_t> iterations = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < size; ++t)
      threads.emplace_back([&, t] {
        for (int times = 0; times < 6; ++times) iterations += take_all(gathering, {t, size, 0});
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(iterations, 6000U);
  }
}

TEST(Gathering, ASecondTeamInTheSameLoopIsRefused) {
  Loop loop("mine.cpp:7");
  Gathering gathering(loop, true);
  Gathering::Seat *first = nullptr, *second = nullptr;
  ASSERT_TRUE(gathering.begin({0, 2, 0}, 1000, first));
  const auto refused_elsewhere = [&](const openmp::Position& here) {
    std::string sentence;
    std::thread([&] {
      const auto status = gathering.begin(here, 1000, second);
      if (!status) sentence = status.sentence();
    }).join();
    return sentence;
  };
  // Another thread 0 of the same region size, and a team of another size or place.
  for (const openmp::Position& here : {openmp::Position{0, 2, 0}, {0, 3, 0}, {1, 2, 99}}) {
    const std::string sentence = refused_elsewhere(here);
    EXPECT_NE(sentence.find("mine.cpp:7 is executed by two teams"), std::string::npos) << sentence;
  }
  EXPECT_EQ(second, nullptr);
  // The right team goes on, and the other one when that is through.
  std::thread([&] { EXPECT_GT(take_all(gathering, {1, 2, 0}), 0U); }).join();
  // A thread 1 that is another one than before, while thread 0 is still inside: teams are mixed.
  EXPECT_NE(refused_elsewhere({1, 2, 0}).find("two teams"), std::string::npos);
  Gathering::end(*first);
  EXPECT_EQ(refused_elsewhere({0, 3, 0}), "");
}

/// `leaves(thread, step)`: takes one chunk and never ends. Which begins were refused, by thread and step; and of each
/// step the iterations that were run.
struct Steps {
  std::vector<std::vector<std::string>> refused;
  std::vector<std::uint64_t> iterations;
};
template <class Leaves>
Steps run_steps(int threads, int steps, const Leaves& leaves) {
  Loop loop("mine.cpp:8");
  Gathering gathering(loop, true);
  Steps seen;
  seen.refused.resize(static_cast<std::size_t>(threads));
  std::vector<std::atomic<std::uint64_t>> iterations(static_cast<std::size_t>(steps));
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      for (int step = 0; step < steps; ++step) {
        Gathering::Seat* seat = nullptr;
        const auto status = gathering.begin({t, threads, 0}, 1000, seat);
        seen.refused[static_cast<std::size_t>(t)].push_back(status ? "" : status.sentence());
        if (!status) continue;
        for (Chunk chunk; Gathering::member(*seat).next(chunk);) {
          iterations[static_cast<std::size_t>(step)] += chunk.end - chunk.begin;
          if (leaves(t, step)) break;
        }
        if (leaves(t, step)) continue;
        EXPECT_TRUE(Gathering::end(*seat));
        EXPECT_FALSE(Gathering::end(*seat)) << "once";
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  for (const auto& each : iterations) seen.iterations.push_back(each);
  return seen;
}

TEST(Gathering, WhoLeavesALoopWithoutAnEndIsRefusedOnceAndNobodyWaits) {
  constexpr int kSteps = 20;
  const Steps seen = run_steps(3, kSteps, [](int thread, int step) { return thread == 0 && step == 1; });
  for (int step = 0; step < kSteps; ++step) {
    const auto i = static_cast<std::size_t>(step);
    EXPECT_EQ(seen.refused[0][i].find("not ended its previous execution") != std::string::npos, step == 2) << step;
    EXPECT_EQ(seen.refused[1][i] + seen.refused[2][i], "") << step;
    EXPECT_LE(seen.iterations[i], 1000U) << step;
    EXPECT_TRUE(seen.iterations[i] == 1000 || step == 1 || step == 2) << step;
  }
}

TEST(Gathering, AllMayLeaveALoopWithoutAnEnd) {
  constexpr int kSteps = 20;
  const Steps seen = run_steps(3, kSteps, [](int, int step) { return step < 10; });
  for (int step = 0; step < kSteps; ++step) {
    const auto i = static_cast<std::size_t>(step);
    EXPECT_EQ(seen.refused[1][i] != "", step < 10 && step % 2 == 1) << step;
    EXPECT_TRUE(seen.iterations[i] == 1000 || step < 10) << step;
  }
}

TEST(Gathering, OneThatIsNotExclusiveServesNestedTeams) {
  Loop loop("test");
  Gathering gathering(loop);
  std::vector<std::thread> threads;
  std::array<std::atomic<std::uint64_t>, 3> iterations = {};
  for (std::size_t outer = 0; outer < 3; ++outer)
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&, outer, t] {
        for (int times = 0; times < 50; ++times) iterations[outer] += take_all(gathering, {t, 2, 7 * outer});
      });
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : iterations) EXPECT_EQ(each, 50000U);
}

TEST(Gathering, TeamsAreLentAndUsedAgain) {
  Loop loop("test");
  Gathering gathering(loop, true);
  Team &a = gathering.borrow(3), &b = gathering.borrow(3);
  EXPECT_NE(&a, &b);
  gathering.give_back(a);
  EXPECT_EQ(&gathering.borrow(3), &a);
  EXPECT_EQ(gathering.borrow(2).threads(), 2);
  EXPECT_TRUE(gathering.enter());
  EXPECT_FALSE(gathering.enter());
  gathering.leave();
  EXPECT_TRUE(gathering.enter());
}

}  // namespace
}  // namespace steelyard::loops
