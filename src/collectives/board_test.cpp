// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "collectives/played_node.h"

namespace steelyard::collectives {
namespace {

using Node = PlayedNode;

/// False where there is no place for it.
bool give_if_placed(Board& board, const std::string& text) {
  char* const to = board.place(text.size());
  if (to != nullptr) std::memcpy(to, text.data(), text.size());
  board.publish(to != nullptr ? Path::board : Path::library, text.size(), 0, text.size());
  return to != nullptr;
}

void give(Board& board, const std::string& text) { ASSERT_TRUE(give_if_placed(board, text)); }

std::string taken(Board& board) {
  const Notice* const notice = board.notice();
  return notice == nullptr ? "nothing" : std::string(board.data(*notice), notice->bytes);
}

TEST(Board, TheRootGoesOnAndALateOneStillGetsItsData) {
  Node node(3);
  const auto boards = node.open(0, {2, 0, 1});
  EXPECT_EQ(boards[0]->member(0), 2);
  for (int i = 0; i < Board::kNotices; ++i) {
    boards[0]->next();
    ASSERT_TRUE(boards[0]->vacant(5));
    ASSERT_TRUE(boards[0]->claim());
    give(*boards[0], std::to_string(i));
    boards[0]->pass();
  }
  boards[0]->next();
  EXPECT_FALSE(boards[0]->vacant(5)) << "both others have taken nothing";
  for (int i = 0; i < Board::kNotices; ++i) {
    for (const int late : {1, 2}) {
      boards[late]->next();
      EXPECT_EQ(taken(*boards[late]), std::to_string(i));
      boards[late]->pass();
    }
    EXPECT_TRUE(boards[0]->vacant(5));
  }
  boards[1]->next();
  EXPECT_EQ(boards[1]->notice(), nullptr) << "an old one is not taken for the next";
}

TEST(Board, TheRootIsToldWhatAllHaveWaited) {
  Node node(2);
  auto boards = node.open(3, {0, 1});
  int over_board = 0;
  for (int i = 0; i < 200; ++i) {
    for (const auto& board : boards) board->next();
    ASSERT_TRUE(boards[0]->vacant(0) && boards[0]->claim());
    const Comparison::Next next = boards[0]->compare(0, i * 10'000'000, {});
    boards[0]->publish(next.by_board ? Path::board : Path::library, 0, 0, 0, 0, 0, next);
    ASSERT_NE(boards[1]->notice(), nullptr);
    EXPECT_EQ(boards[1]->notice()->left, next.left);
    boards[1]->waited(0, next.by_board, next.by_board ? 500 : 5'000'000);  // behind a rank that is late
    boards[0]->waited(0, next.by_board, 300);
    for (const auto& board : boards) board->pass();
    over_board += next.by_board ? 1 : 0;
  }
  EXPECT_GT(over_board, 150);
  // The next communicator begins anew.
  node.boards[0]->clear(3);
  boards = node.open(3, {0, 1});
  for (const auto& board : boards) board->next();
  ASSERT_TRUE(boards[0]->claim());
  EXPECT_FALSE(boards[0]->compare(0, 0, {}).by_board);
  EXPECT_EQ(boards[1]->notice(), nullptr);
}

TEST(Board, LongMessagesWaitForTheirCellAlone) {
  Node node(2);
  const auto boards = node.open(3, {0, 1});
  const std::string text(100'000, 'x');
  for (int i = 0; i < Board::kCells; ++i) {
    boards[0]->next();
    ASSERT_TRUE(boards[0]->vacant(text.size()));
    give(*boards[0], text);
    boards[0]->pass();
  }
  boards[0]->next();
  EXPECT_FALSE(boards[0]->vacant(text.size()));
  EXPECT_TRUE(boards[0]->vacant(Notice::kSmall));
  EXPECT_TRUE(boards[0]->vacant(Board::kCellBytes + 1)) << "no cell can hold it: there is nothing to wait for";
  boards[1]->next();
  EXPECT_EQ(taken(*boards[1]), text);
  boards[1]->pass();
  EXPECT_TRUE(boards[0]->vacant(text.size()));
  EXPECT_EQ(boards[0]->place(Board::kCellBytes + 1), nullptr);
}

// As in a program whose ranks do not agree: nothing of it may reach those who do.
TEST(Board, WhoDidNotLookAtABroadcastLeavesItsDataAlone) {
  Node node(3);
  const auto boards = node.open(0, {0, 1, 2});
  const std::string first(100'000, 'a'), second(100'000, 'b');
  for (const int early : {0, 1}) boards[early]->next();
  ASSERT_TRUE(boards[0]->claim() && boards[0]->vacant(first.size()));
  give(*boards[0], first);
  for (const int early : {0, 1}) boards[early]->pass();
  boards[1]->next();
  ASSERT_TRUE(boards[1]->claim() && boards[1]->vacant(second.size()));
  give(*boards[1], second);
  boards[1]->pass();
  for (const std::string& text : {first, second}) {
    boards[2]->next();
    EXPECT_TRUE(taken(*boards[2]) == text);
    boards[2]->pass();
  }
}

TEST(Board, ARootThatIsOvertakenDoesNotWaitForThoseWhoWaitForIt) {
  Node node(3);
  const auto boards = node.open(0, {0, 1, 2});
  const std::string text(100'000, 'x');
  boards[1]->next();
  boards[1]->pass();
  for (int i = 0; i < Board::kCells; ++i) {
    boards[1]->next();
    ASSERT_TRUE(boards[1]->claim() && boards[1]->vacant(text.size()));
    give(*boards[1], text);
    boards[1]->pass();
  }
  boards[0]->next();
  ASSERT_TRUE(boards[0]->claim());
  EXPECT_TRUE(boards[0]->vacant(text.size()));
  EXPECT_EQ(boards[0]->place(text.size()), nullptr) << "all cells are of broadcasts that nobody else has come to";
}

TEST(Board, TwoThatCallThemselvesRootDoNotMeet) {
  Node node(3);
  const auto boards = node.open(0, {0, 1, 2});
  for (const auto& board : boards) board->next();
  ASSERT_TRUE(boards[0]->claim());
  EXPECT_FALSE(boards[1]->claim());
  give(*boards[0], "a");
  EXPECT_EQ(boards[2]->notice()->root, 0);
  EXPECT_FALSE(boards[2]->will_not_publish(1));
  boards[1]->pass();
  EXPECT_TRUE(boards[2]->will_not_publish(1));
}

TEST(Board, ASlotThatWasClearedStartsAgain) {
  Node node(2);
  {
    const auto boards = node.open(5, {0, 1});
    boards[0]->next();
    boards[0]->claim();
    give(*boards[0], "old");
    boards[0]->pass();
  }
  node.boards[1]->clear(5);
  const auto boards = node.open(5, {1, 0});
  for (const auto& board : boards) board->next();
  EXPECT_EQ(boards[1]->notice(), nullptr);
  EXPECT_FALSE(boards[1]->will_not_publish(0));
  EXPECT_TRUE(boards[0]->claim());
  EXPECT_EQ(node.boards[0]->open(Boards::kBoards, {0, 1}), nullptr);
}

// Roots, lengths and delays at random; every process checks all that it takes.
TEST(Board, KnowsWhoComesFirstAndWhetherSomebodyIsLate) {
  Node node(3);
  const auto boards = node.open(0, {-1, 2, -1, 0, 1});
  Board& led = *boards[1];
  EXPECT_EQ(led.arrivals().late, 0);
  for (int i = 0; i < 40; ++i) {
    boards[1]->arrived(-1000);      // rank 1
    boards[3]->arrived(-9000);      // rank 3, the first
    boards[4]->arrived(1'000'000);  // rank 4, late
  }
  const Board::Arrivals seen = led.arrivals();
  EXPECT_EQ(seen.first, 3);
  EXPECT_NEAR(static_cast<double>(seen.early), 8000, 100);
  EXPECT_NEAR(static_cast<double>(seen.late), 1e6, 1e4);
  EXPECT_EQ(boards[3]->arrivals().early, 0) << "nobody is before the first";
  for (int i = 0; i < 40; ++i) boards[4]->arrived(-2000);
  EXPECT_EQ(led.arrivals().late, 0);
}

TEST(Board, EachGetsEachBroadcastOnceInOrder) {
  constexpr int kRounds = 4000;
  for (const int count : {1, 2, 3, 5}) {
    Node node(count);
    std::vector<int> members;
    for (int p = 0; p < count; ++p) members.push_back(p);
    std::atomic<int> wrong{0}, unplaced{0};
    const auto boards = node.open(1, members);
    std::vector<std::thread> processes;
    for (int me = 0; me < count; ++me) {
      processes.emplace_back([&, me] {
        std::mt19937 same(7), own(static_cast<unsigned>(me));
        Board& board = *boards[static_cast<std::size_t>(me)];
        for (int i = 0; i < kRounds; ++i) {
          const int root = static_cast<int>(same() % static_cast<unsigned>(count));
          const std::size_t lengths[] = {1, 100, Notice::kSmall, Notice::kSmall + 1, 5000};
          const std::string text(lengths[same() % 5], static_cast<char>('a' + i % 26));
          if (own() % 500 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
          board.next();
          if (me == root) {
            if (!board.claim()) ++wrong;
            while (!board.vacant(text.size())) std::this_thread::yield();
            if (!give_if_placed(board, text)) ++unplaced;
          } else if (own() % 7 != 0) {  // the others do not look
            while (board.notice() == nullptr) std::this_thread::yield();
            const bool here = board.notice()->path == Path::board;
            if ((here && taken(board) != text) || board.notice()->root != root) ++wrong;
          }
          board.pass();
        }
      });
    }
    for (auto& process : processes) process.join();
    EXPECT_EQ(wrong.load(), 0) << count;
    EXPECT_LT(unplaced.load(), kRounds / 10) << count;
  }
}

}  // namespace
}  // namespace steelyard::collectives
