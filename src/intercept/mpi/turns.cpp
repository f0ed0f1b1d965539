// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/turns.h"

#include <sched.h>

#include <algorithm>

#include "intercept/mpi/call.h"
#include "node/sleep.h"

namespace steelyard::intercept {
namespace {

constexpr int kProgress = 32;  // of those that spin; a message in pieces needs a look for each of them
constexpr int kYield = 256;    // there may be more ranks than cores, and a call that must poll
constexpr int kSpins = 2000;
constexpr std::int64_t kLongestStep = 50'000;

}  // namespace

void Turns::next() {
  ++turns_;
  if (turns_ % kYield == 0) sched_yield();
  if (pause() || turns_ % kProgress == 0) session::progress();
}

bool Turns::pause() {
  if (call_ != nullptr) return call_->pause();
  if (turns_ < kSpins) {
    node::relax();
    return false;
  }
  node::sleep_for(std::min<std::int64_t>((turns_ - kSpins + 1) * std::int64_t{1000}, kLongestStep));
  return true;
}

}  // namespace steelyard::intercept
