// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/turns.h"

#include "base/clock.h"
#include "intercept/mpi/call.h"
#include "wait/back_off.h"

namespace steelyard::intercept {
namespace {

constexpr int kProgress = 32;  // of those that spin; a message in pieces needs a look for each of them
constexpr int kYield = 256;    // there may be more ranks than cores, and a call that must poll

}  // namespace

void Turns::next() {
  ++turns_;
  if (turns_ % kYield == 0) wait::yield();
  if (pause() || turns_ % kProgress == 0) session::progress();
}

bool Turns::pause() {
  if (call_ != nullptr) return call_->pause();
  const std::int64_t now = base::now_ns();
  if (begin_ == 0) begin_ = now;
  const std::int64_t waited = now - begin_;
  if (wait::kMessage.stage(waited) == wait::Stage::spin) {
    wait::relax();
    return false;
  }
  wait::sleep_for(wait::kMessage.sleep(waited - wait::kMessage.spin));
  return true;
}

}  // namespace steelyard::intercept
