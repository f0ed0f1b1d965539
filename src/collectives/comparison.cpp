// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/comparison.h"

#include <algorithm>

namespace steelyard::collectives {
namespace {

constexpr std::int64_t kMargin = 50;       // ns: less is not worth a change
constexpr std::int64_t kMarginPart = 20;   // nor is less than this part of the wait
constexpr std::int64_t kLookCost = 4'000;  // ns, of two broadcasts that are looked at, beyond what they are
constexpr std::int64_t kGrowth = 16;       // a stay is at most so many times as long as the last
constexpr std::int64_t kCostPart = 100;    // looks may cost one part in so many of the time

}  // namespace

// What is seen now against what was seen a few looks ago: a rank may tell of a broadcast long after the root is
// through.
bool Comparison::board_wins(const Look& seen) {
  const Look& old = before_[looks_ % kRemembered];
  const std::int64_t by_library = seen.library.count - old.library.count;
  const std::int64_t by_board = seen.board.count - old.board.count;
  const bool winning = step_ == Step::stay;
  if (by_library <= 0 || by_board <= 0) return winning;
  const std::int64_t library = (seen.library.ns - old.library.ns) / by_library;
  const std::int64_t board = (seen.board.ns - old.board.ns) / by_board;
  dearer_ = board - library;
  far_apart_ = library > 2 * board;
  const Look& last = before_[(looks_ + kRemembered - 1) % kRemembered];
  const std::int64_t lately = seen.library.count - last.library.count;
  if (lately > 0) won_lately_ = (seen.library.ns - last.library.ns) / lately - board;
  before_[looks_ % kRemembered] = seen;
  ++looks_;
  if (winning && looks_ < trusted_ && board <= 2 * library) return true;
  return dearer_ < (winning ? 0 : -(kMargin + library / kMarginPart));
}

// ns from one broadcast to the next, since this was asked for last.
std::int64_t Comparison::each(std::int64_t now, std::int64_t number) {
  const std::int64_t each = (now - looked_at_) / std::max<std::int64_t>(1, number - number_);
  looked_at_ = now;
  number_ = number;
  return std::max<std::int64_t>(1, each);
}

// As the time between broadcasts allows. Not always the same: a program's broadcasts come in a pattern of their own.
std::uint32_t Comparison::gap(std::int64_t now, std::int64_t number) {
  const std::int64_t look = kLookCost * (run_ + with_warm_ups()) / 2, loss = dearer_ * with_warm_ups();
  const std::int64_t affordable = kCostPart * std::max(look, loss) / each(now, number);
  const std::int64_t least = std::int64_t{kLeast} * run_, most = loss > look ? kLongest : kMost;
  const auto gap = static_cast<std::uint32_t>(std::clamp(affordable, least, most));
  return gap - gap * (looks_ % 4) / 8;
}

std::uint32_t Comparison::stay(std::uint32_t least, std::int64_t now, std::int64_t number) {
  const std::int64_t own = (now - looked_at_) / std::max<std::int64_t>(1, stayed_);  // a stay is of this kind alone
  std::int64_t apart = each(now, number);
  if (step_ == Step::stay) apart = std::max(apart, own);
  // So far the library had most of them; the board will be what it has won the faster.
  if (step_ == Step::decide) apart = std::max(apart - won_lately_, apart / kGrowth + 1);
  const std::int64_t affordable = kCostPart * won_lately_ * with_warm_ups() / apart;
  // One wait that something else has made long does not decide for long.
  const std::int64_t most = std::min<std::int64_t>(kLongest, kGrowth * std::max(stay_, least));
  const auto stay = static_cast<std::uint32_t>(std::clamp<std::int64_t>(affordable, least, most));
  return stay - stay * (looks_ % 4) / 8 - looks_ % 3;
}

// A single one meets cold caches: that is good enough for what is far apart, and for the beginning.
std::uint32_t Comparison::run() const {
  return looks_ < 2 || far_apart_ ? 1 : std::min<std::uint32_t>(looks_ / 2 * 2, kRun);
}

// `step` goes on with it. After broadcasts over the board, as many as count go before them uncounted.
Comparison::Next Comparison::begin_library(Step step, bool after_board) {
  run_ = run();
  step_ = step;
  to_come_ = run_;
  if (!after_board || run_ == 1) return one_by_library();
  return {.by_board = false, .counted = false, .left = run_ - 1};
}

Comparison::Next Comparison::one_by_library() {
  --to_come_;
  return {.by_board = false};
}

Comparison::Next Comparison::look_at_board(std::int64_t now, std::int64_t number) {
  if (step_ != Step::by_board) {
    step_ = Step::by_board;
    to_come_ = with_warm_ups();
  }
  --to_come_;
  if (to_come_ > 0) return {.counted = to_come_ < run_};
  step_ = Step::decide;
  const std::uint32_t left = looks_ == 0 ? kLeast : gap(now, number);
  return {.left = left};
}

Comparison::Next Comparison::next(const Waits& library, const Waits& board, std::int64_t now, std::int64_t number) {
  switch (step_) {
    case Step::begin:  // the first may make connections
      step_ = Step::decide;
      run_ = 1;
      looked_at_ = now;
      number_ = number;
      return {.by_board = false, .counted = false, .left = kLeast};
    case Step::decide:
      if (!board_wins({library, board})) return begin_library(Step::by_library, false);
      stay_ = stay(kStay / 4 * run_, now, number);
      step_ = Step::stay;
      stayed_ = 1;
      return {};
    case Step::by_library: return to_come_ > 0 ? one_by_library() : look_at_board(now, number);
    case Step::by_board: return look_at_board(now, number);
    case Step::check:
      if (to_come_ > 0) return one_by_library();
      step_ = Step::stay;
      [[fallthrough]];
    case Step::stay:
      if (++stayed_ <= stay_) return {};
      if (!board_wins({library, board})) return begin_library(Step::by_library, true);
      run_ = run();
      stay_ = stay(std::min(2 * stay_, kStay * run_), now, number);
      stayed_ = 0;
      return begin_library(Step::check, true);
  }
  return {.by_board = false};
}

}  // namespace steelyard::collectives
