// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/call.h"

#include <sched.h>

#include <algorithm>

#include "node/sleep.h"

namespace steelyard::collectives {
namespace {

constexpr int kProgress = 32;  // turns of a spin; a message in pieces needs one for each of them
constexpr int kYield = 256;    // there may be more ranks than cores, and a call that must poll
constexpr int kSpins = 2000;
constexpr std::int64_t kLongestStep = 50'000;

}  // namespace

void Call::turn() {
  ++turns_;
  if (turns_ % kYield == 0) sched_yield();
  if (pause() || turns_ % kProgress == 0) library_.progress();
}

bool Call::pause() {
  if (turns_ < kSpins) {
    node::relax();
    return false;
  }
  node::sleep_for(std::min<std::int64_t>((turns_ - kSpins + 1) * std::int64_t{1000}, kLongestStep));
  return true;
}

}  // namespace steelyard::collectives
