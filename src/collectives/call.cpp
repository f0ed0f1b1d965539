// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/call.h"

#include "wait/back_off.h"

namespace steelyard::collectives {
namespace {

constexpr int kProgress = 32;  // turns of a spin; a message in pieces needs one for each of them

}  // namespace

void Call::turn() {
  ++turns_;
  // There may be more ranks than cores, and a call that must poll.
  if (turns_ % wait::kSpins == 0) wait::yield();
  if (pause() || turns_ % kProgress == 0) library_.progress();
}

bool Call::pause() {
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

}  // namespace steelyard::collectives
