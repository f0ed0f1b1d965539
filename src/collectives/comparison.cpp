#include "collectives/comparison.h"

#include <algorithm>

namespace steelyard::collectives {
namespace {

constexpr std::int64_t kMargin = 1'000;    // ns: less is not worth a change
constexpr std::int64_t kMarginPart = 20;   // nor is less than this part of the wait
constexpr std::int64_t kLookCost = 4'000;  // ns, of two broadcasts that are looked at, beyond what they are
constexpr std::int64_t kCostPart = 100;    // looks may cost one part in so many of the time

}  // namespace

// What is seen now against what was seen a few looks ago: a rank may tell of a broadcast long after the root is through.
bool Comparison::board_wins(const Look& seen) {
  const Look& old = before_[looks_ % kRemembered];
  const std::int64_t by_library = seen.library.count - old.library.count;
  const std::int64_t by_board = seen.board.count - old.board.count;
  const bool winning = step_ == Step::stay;
  if (by_library <= 0 || by_board <= 0) return winning;
  const std::int64_t library = (seen.library.ns - old.library.ns) / by_library;
  dearer_ = (seen.board.ns - old.board.ns) / by_board - library;
  before_[looks_ % kRemembered] = seen;
  ++looks_;
  return dearer_ < (winning ? 0 : -(kMargin + library / kMarginPart));
}

// As the time between broadcasts allows. Not always the same: a program's broadcasts come in a pattern of their own.
std::uint32_t Comparison::gap(std::int64_t now) {
  const std::int64_t each = std::max<std::int64_t>(1, (now - looked_at_) / (gap_ + 2));
  const std::int64_t affordable = kCostPart * std::max(kLookCost, dearer_) / each;
  gap_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(affordable, kLeast, kMost));
  gap_ -= gap_ * (looks_ % 4) / 8;
  return gap_;
}

Comparison::Next Comparison::next(const Waits& library, const Waits& board, std::int64_t now) {
  switch (step_) {
    case Step::begin:  // the first may make connections
      step_ = Step::look;
      gap_ = kLeast;
      looked_at_ = now;
      return {false, kLeast};
    case Step::look:
      if (board_wins({library, board})) {
        step_ = Step::stay;
        stay_ = kStay / 4;
        stayed_ = 1;
        return {true, 0};
      }
      step_ = Step::compare;
      return {false, 0};
    case Step::compare: {
      step_ = Step::look;
      const std::uint32_t left = looks_ == 0 ? kLeast : gap(now);
      looked_at_ = now;
      return {true, left};
    }
    case Step::stay: break;
  }
  if (++stayed_ <= stay_) return {true, 0};
  if (!board_wins({library, board})) {
    step_ = Step::compare;
    gap_ = kLeast;
    return {false, 0};
  }
  stay_ = std::min(2 * stay_, kStay);
  stayed_ = 0;
  return {false, 0};
}

}  // namespace steelyard::collectives
