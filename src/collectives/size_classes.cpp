// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/size_classes.h"

#include <algorithm>

namespace steelyard::collectives {

int SizeClasses::of(Operation operation, std::size_t bytes) {
  const int size = bytes <= kShort ? 0 : bytes <= kPiece ? 1 : 2;
  return static_cast<int>(operation) * kSizes + size;
}

bool SizeClasses::asks(int which) const { return number_ >= until_[which] && comparisons_[which].asks(); }

Comparison::Next SizeClasses::next(int which, const Waits& library, const Waits& board, std::int64_t now) {
  seen_[which] = ++number_;
  Comparison::Next next{.by_board = false, .counted = false};
  if (number_ > until_[which]) {
    next = comparisons_[which].next(library, board, now, number_);
    until_[which] = number_ + next.left;
  }
  next.left = leave();
  return next;
}

Comparison::Next SizeClasses::pass() {
  ++number_;
  return {.by_board = false, .counted = false, .left = leave()};
}

// For one class, so many that follow may be the library's; none where it would be missed.
std::int64_t SizeClasses::left_by(int which) const {
  const std::int64_t absent = number_ - seen_[which], won = comparisons_[which].won();
  if (absent > kInUse && won <= kNotice * absent) return Comparison::kMost;
  if (won > 0) return 0;
  // A look at it goes on when it comes again, a little later.
  return std::max<std::int64_t>(until_[which] - number_, absent > kAbsent ? Comparison::kLeast : 0);
}

// As many as each class allows that has come so far.
std::uint32_t SizeClasses::leave() {
  std::int64_t left = Comparison::kMost;
  bool any = false;
  for (int which = 0; which < kClasses; ++which) {
    if (seen_[which] == 0) continue;
    any = true;
    left = std::min(left, left_by(which));
  }
  if (!any) return 0;
  number_ += left;
  return static_cast<std::uint32_t>(left);
}

}  // namespace steelyard::collectives
