// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/comparison.h"

#include <algorithm>
#include <utility>

namespace steelyard::collectives {

// Some ranks add their waits long after the root has gone on. Sums that lack most of them would be those of the ranks
// that waited least.
void Comparison::measure(const Seen& seen, const Circumstances& at) {
  const bool board = candidate_ == kBoard;
  const Waits& now = board ? seen.board : seen.library;
  Waits& before = board ? before_.board : before_.library;
  const std::int64_t count = now.count - before.count;
  const bool incomplete = 2 * count < at.ranks;
  if (incomplete && extended_ < kExtended) {
    ++extended_;
    to_come_ = 1;
    return;
  }
  if (count > 0) {
    const double wait = static_cast<double>(now.ns - before.ns) / static_cast<double>(count);
    contest_->measured(static_cast<double>(apart_) + wait);
    if (!board) stake_ = static_cast<std::int64_t>(wait);
  }
  before = now;
  board_leads_ = contest_->leader() == kBoard;
  const double won = board_leads_ ? contest_->typical(kLibrary) - contest_->typical(kBoard) : 0;
  if (board_leads_ || contest_->settled()) stake_ = static_cast<std::int64_t>(won);
  begin_block();
}

void Comparison::begin_block() {
  const int next = contest_->next();
  blocks_ = next == contest_->leader() && next == candidate_ ? blocks_ + 1 : 0;
  candidate_ = next;
  extended_ = 0;
  to_come_ = contest_->warms_up() ? 1 : kBlock;
}

// The number varies, because the broadcasts of a program have a pattern of their own.
std::uint32_t Comparison::rest(const Circumstances& at) {
  const std::int64_t broadcasts = at.number - rest_number_;
  if (rest_number_ >= 0 && broadcasts > 0) {
    const std::int64_t apart = std::max<std::int64_t>(1, (at.now - rested_at_) / broadcasts);
    const bool changed = apart > 2 * apart_ || apart_ > 2 * apart;
    apart_ = changed ? apart : apart_ + (apart - apart_) / decide::kRecent;
    // In the unit of a block's duration, which is that of one broadcast.
    contest_->unmeasured(static_cast<double>(apart_) * static_cast<double>(broadcasts - measured_) / kBlock);
  }
  rested_at_ = at.now;
  rest_number_ = at.number;
  const std::int64_t cost = at.cost + (candidate_ == kLibrary ? at.announcing : 0);
  const double budget = at.settings.exploration * static_cast<double>(std::max<std::int64_t>(1, apart_));
  const double rest = static_cast<double>(cost * std::exchange(measured_, 0)) / budget;
  const auto most = rest < kMost ? static_cast<std::uint32_t>(rest) : kMost;  // without a budget, it is infinite
  blocks_ = -1;
  return most - most * (++rests_ % 4) / 8;
}

// A trial is between two blocks of the leader, so a rest is only after two of them.
Comparison::Next Comparison::next(const Seen& seen, const Circumstances& at) {
  if (!contest_) {
    contest_.emplace(2, at.settings, first_);
    candidate_ = first_;
    blocks_ = -1;
    rested_at_ = at.now;
    rest_number_ = at.number;
    begin_block();
  } else if (rest_ > 0) {
    --rest_;
    return {.counted = false};
  } else if (to_come_ == 0) {
    measure(seen, at);
  }
  --to_come_;
  ++measured_;
  Next next{.by_board = candidate_ == kBoard};
  if (to_come_ > 0 || blocks_ < 1) return next;
  const std::uint32_t pause = rest(at);
  (next.by_board ? rest_ : next.left) = pause;
  return next;
}

}  // namespace steelyard::collectives
