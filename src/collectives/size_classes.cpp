#include "collectives/size_classes.h"

#include <algorithm>

namespace steelyard::collectives {

int SizeClasses::of(Operation operation, std::size_t bytes) {
  const int size = bytes <= kShort ? 0 : bytes <= kPiece ? 1 : 2;
  return static_cast<int>(operation) * kSizes + size;
}

bool SizeClasses::asks(int which) const {
  const Class& one = classes_[which];
  return number_ >= one.until && one.comparison.asks();
}

Comparison::Next SizeClasses::next(int which, const Waits& library, const Waits& board, std::int64_t now) {
  Class& one = classes_[which];
  one.seen = ++number_;
  Comparison::Next next{.by_board = false, .counted = false};
  if (number_ > one.until) {
    next = one.comparison.next(library, board, now, number_);
    one.until = number_ + next.left;
  }
  next.left = leave();
  return next;
}

Comparison::Next SizeClasses::pass() {
  ++number_;
  return {.by_board = false, .counted = false, .left = leave()};
}

// As many as the library has of each class that is in use.
std::uint32_t SizeClasses::leave() {
  std::int64_t left = Comparison::kMost;
  bool any = false;
  for (const Class& one : classes_) {
    if (one.seen == 0 || number_ - one.seen > kInUse) continue;
    any = true;
    left = std::min(left, one.until - number_);
  }
  left = any ? std::max<std::int64_t>(left, 0) : 0;
  number_ += left;
  return static_cast<std::uint32_t>(left);
}

}  // namespace steelyard::collectives
