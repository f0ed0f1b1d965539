// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/size_classes.h"

#include <algorithm>

namespace steelyard::collectives {

int SizeClasses::of(Operation operation, std::size_t bytes) {
  const int size = bytes <= kShort ? 0 : bytes <= kPiece ? 1 : 2;
  return static_cast<int>(operation) * kSizes + size;
}

bool SizeClasses::asks(int which) const { return number_ >= until_[which] && comparisons_[which].asks(); }

Comparison::Next SizeClasses::next(int which, const Comparison::Seen& seen, Comparison::Circumstances at) {
  at.number = seen_[which] = ++number_;
  Comparison::Next next{.by_board = false, .counted = false};
  if (number_ > until_[which]) {
    next = comparisons_[which].next(seen, at);
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
  const std::int64_t absent = number_ - seen_[which];
  if (absent > kInUse && comparisons_[which].stake() <= kNotice * absent) return Comparison::kMost;
  if (comparisons_[which].board_leads()) return 0;
  // A trial of it goes on when it comes again, a little later.
  return std::max<std::int64_t>(until_[which] - number_, absent > kAbsent ? kAbsentLeft : 0);
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
