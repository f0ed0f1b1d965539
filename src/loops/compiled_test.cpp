// SPDX-License-Identifier: BSD-3-Clause
// What loops of a compiler want of the engine beyond what our own calls do.
#include <gtest/gtest.h>

#include <thread>

#include "loops/team.h"

namespace steelyard::loops {
namespace {

using Pieces = std::vector<Assignment::Piece>;

template <class Body>
void run(Team& team, Body&& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < team.threads(); ++t) threads.emplace_back([&, t] { body(team.member(t), t); });
  for (std::thread& thread : threads) thread.join();
}

Pieces execute(Member& member, Loop& loop, std::uint64_t count) {
  Pieces pieces;
  EXPECT_TRUE(member.begin(loop, count, Manner::compiled));
  for (Chunk chunk; member.next(chunk);) {
    pieces.push_back({chunk.begin, chunk.end});
    if (pieces.size() % 8 == 0) std::this_thread::yield();
  }
  member.end();
  return pieces;
}

TEST(Compiled, TheLastIterationComesLastInItsThread) {
  for (const int threads : {1, 2, 3, 7}) {
    for (int s = 0; s < kStrategies; ++s) {
      for (const std::uint64_t count : {1, 7, 500, 20000}) {
        Loop loop("test", {static_cast<Strategy>(s), 0.7, 1});
        loop.record_assignments(true);
        Team team(threads);
        for (int repeat = 0; repeat < 4; ++repeat) {
          Assignment had{count, std::vector<Pieces>(static_cast<std::size_t>(threads))};
          run(team,
              [&](Member& member, int t) { had.threads[static_cast<std::size_t>(t)] = execute(member, loop, count); });
          ASSERT_TRUE(had.complete()) << name_of(static_cast<Strategy>(s)) << ", " << threads << " threads, " << count;
          for (const Pieces& pieces : had.threads) {
            for (std::size_t i = 0; i + 1 < pieces.size(); ++i) ASSERT_NE(pieces[i].end, count);
          }
          if (threads == 1 || repeat > 0) continue;
          // It is recorded in the order in which it ran.
          const Assignment kept = loop.assignments().at(0);
          for (std::size_t t = 0; t < kept.threads.size(); ++t) {
            Pieces joined;
            for (const Assignment::Piece& piece : had.threads[t]) {
              if (!joined.empty() && joined.back().end == piece.begin)
                joined.back().end = piece.end;
              else
                joined.push_back(piece);
            }
            ASSERT_EQ(kept.threads[t], joined);
          }
        }
      }
    }
  }
}

TEST(Compiled, WhatTheLastThreadDoesIsCountedAsItsOwn) {
  Loop loop("test", {Strategy::even, 1, 0});
  Team team(2);
  run(team, [&](Member& member, int) {
    ASSERT_TRUE(member.begin(loop, 100, Manner::compiled));
    for (Chunk chunk; member.next(chunk);) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    member.end();
  });
  Loop::Regime regime;
  ASSERT_TRUE(loop.latest(regime));
  for (const ThreadSample& thread : regime.history.last(0).threads) {
    EXPECT_EQ(thread.own_iterations, 50u);
    EXPECT_EQ(thread.stolen, 0u);
    EXPECT_GE(thread.own_ns, 20'000'000);
    EXPECT_GE(thread.busy_ns, thread.own_ns);
  }
}

TEST(Compiled, CopiesOfALoopAreOne) {
  Loop one("one"), copy("copy");
  Team team(3);
  std::vector<Pieces> pieces(3);
  run(team,
      [&](Member& member, int t) { pieces[static_cast<std::size_t>(t)] = execute(member, t == 0 ? one : copy, 1000); });
  EXPECT_TRUE((Assignment{1000, pieces}.complete()));
}

}  // namespace
}  // namespace steelyard::loops
