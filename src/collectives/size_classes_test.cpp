// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/size_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace steelyard::collectives {
namespace {

constexpr int kShort = 0, kMiddle = 1, kLong = 2;

/// A communicator whose ranks wait so long in a collective, by its class and by how it goes.
struct Program {
  struct Wait {
    std::int64_t by_library, by_board;  // ns
  };
  Wait waits[SizeClasses::kClasses] = {{500, 800}, {9000, 3000}, {90'000, 200'000}, {900, 500}, {900, 500}, {900, 500}};
  SizeClasses classes = {};
  Waits library[SizeClasses::kClasses], board[SizeClasses::kClasses];
  std::int64_t now = 0;
  std::uint32_t left = 0;
  int asked = 0;
  int over_board[SizeClasses::kClasses] = {}, calls[SizeClasses::kClasses] = {};
  std::int64_t lost = 0;  // ns, to having each go by what is best for it

  void next(int which) {
    now += 5000 + waits[which].by_library;
    ++calls[which];
    if (left > 0) {
      --left;
      count_loss(which, false);
      return;
    }
    ++asked;
    const bool asks = classes.asks(which);
    const Comparison::Seen seen{library[which], board[which]};
    const Comparison::Next next =
        classes.next(which, asks ? seen : Comparison::Seen(), {.now = now, .ranks = 3, .cost = 2000});
    left = next.left;
    over_board[which] += next.by_board ? 1 : 0;
    count_loss(which, next.by_board);
    if (!next.counted) return;
    Waits& of = next.by_board ? board[which] : library[which];
    of.ns += 3 * (next.by_board ? waits[which].by_board : waits[which].by_library);
    of.count += 3;
  }
  void count_loss(int which, bool by_board) {
    const Wait& wait = waits[which];
    lost += (by_board ? wait.by_board : wait.by_library) - std::min(wait.by_board, wait.by_library);
  }
  double part_lost() const { return static_cast<double>(lost) / static_cast<double>(now); }
  double share(int which) const { return static_cast<double>(over_board[which]) / calls[which]; }
};

TEST(SizeClasses, EachHasWhatIsBestForIt) {
  Program program;
  for (int i = 0; i < 10'000; ++i) {
    program.next(kShort);
    program.next(kMiddle);
    if (i % 10 == 0) program.next(kLong);
    program.next(SizeClasses::of(Operation::scatter, 8));
  }
  EXPECT_LT(program.share(kShort), 0.2);
  EXPECT_GT(program.share(kMiddle), 0.95);
  EXPECT_LT(program.share(kLong), 0.25);
  EXPECT_LT(program.part_lost(), 0.03);
  EXPECT_GT(program.share(SizeClasses::of(Operation::scatter, 8)), 0.9);
}

TEST(SizeClasses, LittleIsAskedWhereTheLibraryIsBestForAll) {
  Program program;
  program.waits[kLong] = {1000, 1500};
  for (int i = 0; i < 50'000; ++i) program.next(i % 2 == 0 ? kShort : kLong);
  EXPECT_LT(program.asked, 15'000) << "of 50,000; a look at either is one at each of some in a row";
  EXPECT_LT(program.part_lost(), 0.02);
}

TEST(SizeClasses, OneThatCameOnceIsForgotten) {
  Program program;
  for (int i = 0; i < 20; ++i) program.next(kMiddle);
  program.asked = 0;
  for (int i = 0; i < 50'000; ++i) program.next(kShort);
  EXPECT_LT(program.asked, 3000) << "of 50,000";
}

// A long one at each time step, among many short ones.
TEST(SizeClasses, ARareOneKeepsWhatItWins) {
  for (const int every : {100, 255, 300, 1000}) {
    Program program;
    program.waits[kMiddle] = {10'000'000, 3000};
    for (int i = 0; i < 1000 * every; ++i) {
      if (i == 500 * every)
        program.calls[kMiddle] = program.over_board[kMiddle] = 0;  // found by chance, while few are asked
      program.next(i % every == 0 ? kMiddle : kShort);
    }
    EXPECT_GT(program.share(kMiddle), 0.9) << every;
  }
}

TEST(SizeClasses, ARareOneOfTheLibrarysCostsOthersFewNotices) {
  for (const int every : {2, 50, 250, 1000}) {
    Program program;
    program.waits[kLong] = {1000, 1500};
    for (int i = 0; i < 50'000; ++i) program.next(i % every == 0 ? kLong : kShort);
    EXPECT_LT(program.asked, 15'000) << every;
    EXPECT_LT(program.part_lost(), 0.02) << every;
  }
}

TEST(SizeClasses, OneThatComesLateInTheRunIsLookedAt) {
  Program program;
  for (int i = 0; i < 5000; ++i) program.next(kShort);
  for (int i = 0; i < 3000; ++i) program.next(kMiddle);
  EXPECT_GT(program.share(kMiddle), 0.6);
}

TEST(SizeClasses, WhatHasNoDataIsNobodys) {
  SizeClasses classes = {};
  for (int i = 0; i < 1000; ++i) {
    const Comparison::Next next = classes.pass();
    ASSERT_EQ(next.left, 0) << "nothing is known of any class";
    ASSERT_FALSE(next.by_board || next.counted);
  }
}

TEST(SizeClasses, KnowsOperationAndLengthApart) {
  EXPECT_EQ(SizeClasses::of(Operation::broadcast, 0), 0);
  EXPECT_EQ(SizeClasses::of(Operation::broadcast, SizeClasses::kShort), 0);
  EXPECT_EQ(SizeClasses::of(Operation::broadcast, SizeClasses::kShort + 1), 1);
  EXPECT_EQ(SizeClasses::of(Operation::broadcast, SizeClasses::kPiece + 1), 2);
  for (int which = 0; which < SizeClasses::kClasses; ++which)
    EXPECT_EQ(SizeClasses::operation(which), which < SizeClasses::kSizes ? Operation::broadcast : Operation::scatter);
  EXPECT_EQ(SizeClasses::of(Operation::scatter, ~std::size_t{0}), SizeClasses::kClasses - 1);
}

// Whatever it is told, all ranks go on: what is left is within bounds, and never more than any class in use allows.
TEST(SizeClasses, AnswersWithinBoundsWhateverItIsTold) {
  std::mt19937_64 random(11);
  SizeClasses classes = {};
  Waits waits[2];
  std::int64_t now = 0;
  for (int i = 0; i < 100'000; ++i) {
    const int which = static_cast<int>(random() % SizeClasses::kClasses);
    const Comparison::Next next =
        random() % 9 ? classes.next(which, {waits[0], waits[1]}, {.now = now, .cost = 2000}) : classes.pass();
    ASSERT_LE(next.left, Comparison::kMost);
    now += static_cast<std::int64_t>(random() % 10'000'000);
    waits[random() % 2].count += static_cast<std::int64_t>(random() % 3);
    waits[random() % 2].ns += static_cast<std::int64_t>(random() % 100'000'000);
  }
}

}  // namespace
}  // namespace steelyard::collectives
