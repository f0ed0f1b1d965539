// SPDX-License-Identifier: BSD-3-Clause
#include "observe/period_finder.h"

#include <algorithm>

#include "decide/estimate.h"

namespace steelyard::observe {
namespace {

constexpr std::size_t kWorkATick = 48;              // comparisons; a search that took more delays the next one
constexpr std::size_t kWorkACandidate = 8;          // for the branch that is not predicted
constexpr int kCostOfMisfit = 4;                    // a period holds as long as four ticks in five fit
constexpr std::size_t kEvidence = decide::kFewest;  // of times that a period has come back

}  // namespace

PeriodFinder::PeriodFinder(int longest)
    : longest_(static_cast<std::size_t>(std::max(longest, 1))), evidence_(longest_ + 1, kEvidence) {
  recent_.reserve(8 * longest_);
}

void PeriodFinder::tick(std::uint64_t site) {
  if (recent_.size() == 8 * longest_)
    recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(4 * longest_));
  recent_.push_back(site);
  work_ -= std::min(work_, kWorkATick);
  if (period_ != 0) judge();
  // If a period outlasts ticks that did not fit, a part of it may be the step now: ABABAB, then AAAAAA.
  const bool recovered = clean_ == period_;
  if ((period_ != 0 && !recovered) || work_ != 0) return;
  const std::size_t found = shortest_up_to(period_ != 0 ? period_ - 1 : longest_);
  if (found != 0) adopt(found);
}

int PeriodFinder::full_trust() const { return 6 * (static_cast<int>(period_) + 1); }

void PeriodFinder::adopt(std::size_t period) {
  period_ = period;
  held_ = 0;
  clean_ = period;
  trust_ = full_trust();
}

void PeriodFinder::judge() {
  ++held_;
  if (recent_.back() == recent_[recent_.size() - 1 - period_]) {
    trust_ = std::min(trust_ + 1, full_trust());
    ++clean_;
    return;
  }
  clean_ = 0;
  trust_ -= kCostOfMisfit;
  if (trust_ < 0) drop();
}

void PeriodFinder::drop() {
  // A period that held for long was a step, and the program went on to another part. A period that was dropped soon was
  // chance, or repeats inside a longer step: it needs more evidence the next time.
  std::size_t& evidence = evidence_[period_];
  const bool was_a_step = held_ > static_cast<std::size_t>(full_trust());
  const std::size_t that_fits = std::max(4 * longest_ / period_ - 1, kEvidence);
  evidence = was_a_step ? kEvidence : std::min(2 * evidence, that_fits);
  period_ = 0;
}

std::size_t PeriodFinder::shortest_up_to(std::size_t longest) {
  const std::size_t most = std::min(longest, recent_.size() / (1 + kEvidence));
  const std::uint64_t* const latest = recent_.data() + recent_.size() - 1;
  for (std::size_t period = 1; period <= most; ++period) {
    ++work_;
    if (latest[0] != *(latest - period)) continue;
    const std::size_t length = evidence_[period] * period;
    if (!fits(period, length)) continue;
    // A shorter period that needs more evidence by now is the step, if it fits the whole length.
    for (std::size_t part = 1; part <= period / 2; ++part) {
      if (period % part == 0 && fits(part, length)) return part;
    }
    return period;
  }
  return 0;
}

bool PeriodFinder::fits(std::size_t period, std::size_t length) {
  const std::size_t size = recent_.size();
  if (length + period > size) return false;
  std::size_t i = 1;
  while (i <= length && recent_[size - i] == recent_[size - i - period]) ++i;
  work_ += kWorkACandidate + i;
  return i > length;
}

}  // namespace steelyard::observe
