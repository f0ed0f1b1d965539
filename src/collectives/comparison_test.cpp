// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/comparison.h"

#include <gtest/gtest.h>

#include <random>

namespace steelyard::collectives {
namespace {

/// A program whose ranks wait so long in a broadcast, by how it goes.
class Program {
 public:
  std::int64_t by_library = 500, by_board = 800;  // ns
  std::int64_t between = 0;                       // two broadcasts

  /// Its share of broadcasts over the board, of `count`.
  double over_board(int count) {
    int board = 0;
    for (int i = 0; i < count; ++i) {
      now_ += between;
      ++number_;
      if (left_ > 0) {
        --left_;
        now_ += by_library;
        continue;
      }
      const bool asks = comparison_.asks();
      const Comparison::Next next = comparison_.next(asks ? library_ : Waits(), asks ? board_ : Waits(), now_, number_);
      left_ = next.left;
      EXPECT_LE(next.left, Comparison::kLongest);
      board += next.by_board ? 1 : 0;
      now_ += next.by_board ? by_board : by_library;
      asked_ += 1;
      if (next.by_board && !next.counted) continue;
      add(next.by_board ? board_ : library_, next.by_board ? by_board : by_library);
    }
    return static_cast<double>(board) / count;
  }
  int asked() const { return asked_; }
  void begin_by_board() { comparison_.begin_by_board(); }

 private:
  static void add(Waits& waits, std::int64_t ns) {
    constexpr int kRanks = 3;
    waits.ns += kRanks * ns;
    waits.count += kRanks;
  }
  Comparison comparison_ = {};
  Waits library_, board_;
  std::int64_t now_ = 0, number_ = 0;
  std::uint32_t left_ = 0;
  int asked_ = 0;
};

TEST(Comparison, LeavesShortBroadcastsToTheLibraryAndHardlyLooks) {
  Program program;
  EXPECT_LT(program.over_board(100'000), 0.015);
  EXPECT_LT(program.asked(), 2000);
}

TEST(Comparison, LooksOftenWhereThatCostsNothing) {
  Program program;
  program.between = 1'000'000;
  EXPECT_LT(program.over_board(1000), 0.35);
  EXPECT_GT(program.asked(), 200);
}

TEST(Comparison, ALateRankBringsTheBoardWithinAFewBroadcasts) {
  Program program;
  program.between = 1'000'000;
  program.over_board(100);
  program.by_library = 5'000'000;
  program.over_board(20);
  EXPECT_GT(program.over_board(200), 0.9);
  EXPECT_GT(program.over_board(1000), 0.97) << "what the library would make of it is asked now and then";
}

TEST(Comparison, WhereTheBoardBeginsItKeepsWhatItWinsAndLosesWhatItDoesNot) {
  Program winning, losing;
  winning.by_library = losing.by_board = 5'000'000;
  winning.by_board = losing.by_library = 50'000;
  for (Program* const program : {&winning, &losing}) {
    program->begin_by_board();
    EXPECT_EQ(program->over_board(Comparison::kStay / 4), 1);
    program->over_board(100);
  }
  EXPECT_GE(winning.over_board(1000), 0.97);
  EXPECT_LE(losing.over_board(1000), 0.01);
}

TEST(Comparison, WhereTheBoardBeginsALittleMoreInOneLookDecidesNothing) {
  Program program;
  program.by_library = 1'000'000;
  program.by_board = 1'200'000;
  program.begin_by_board();
  EXPECT_GE(program.over_board(100), 0.97);
  program.over_board(1000);
  EXPECT_LE(program.over_board(1000), 0.1);
}

TEST(Comparison, GoesBackWhenNobodyIsLateAnyMore) {
  Program program;
  program.by_library = 5'000'000;
  EXPECT_GT(program.over_board(1000), 0.9);
  program.by_library = 500;
  program.over_board(2 * Comparison::kLongest);  // a stay, and what it takes to see
  EXPECT_LT(program.over_board(100'000), 0.015);
}

TEST(Comparison, ALibraryThatIsAThousandTimesDearerIsHardlyEverLookedAt) {
  Program program;
  program.by_library = 2'000'000'000;
  program.by_board = 1'000'000;
  program.between = 10'000'000;
  EXPECT_GE(program.over_board(1000), 0.986) << "14 of them, most before it is known";
  EXPECT_GE(program.over_board(3000), 0.9996) << "one at most";
}

TEST(Comparison, ALittleIsNotWorthAChange) {
  Program program;
  program.by_library = 880;
  EXPECT_LT(program.over_board(10'000), 0.025);
}

TEST(Comparison, OneLateBroadcastOfManyCountsByItsLength) {
  // 1 in 11 is held up; whatever the looks meet, the board is dear to none.
  Program program;
  program.between = 100'000;
  double board = 0;
  for (int i = 0; i < 20'000; ++i) {
    program.by_library = i % 11 == 0 ? 10'000'000 : 500;
    board += program.over_board(1);
  }
  EXPECT_GT(board / 20'000, 0.5);
}

TEST(Comparison, WhatRanksHaveNotToldYetChangesNothing) {
  Comparison comparison = {};
  for (int i = 0; i < 1000; ++i) {
    const Comparison::Next next = comparison.next({}, {}, i, i);
    EXPECT_LE(next.left, Comparison::kLeast);
  }
}

TEST(Comparison, AnswersWithinBoundsWhateverItIsTold) {
  std::mt19937_64 random(7);
  Comparison comparison = {};
  Waits library, board;
  std::int64_t now = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Comparison::Next next = comparison.next(library, board, now, i);
    ASSERT_LE(next.left, Comparison::kLongest);
    now += static_cast<std::int64_t>(random() % (random() % 2 ? 10 : 10'000'000'000));
    Waits& waits = random() % 2 ? library : board;
    waits.count += static_cast<std::int64_t>(random() % 3);
    waits.ns += static_cast<std::int64_t>(random() % (random() % 2 ? 100 : 100'000'000'000));
  }
}

}  // namespace
}  // namespace steelyard::collectives
