// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef STEELYARD_EXPLORE
#include "base/explorer.h"
#else
#include "wait/back_off.h"
#endif

namespace steelyard::loops {

/// One turn of a wait between threads of a team: wait::pass(), or a step of the explorer where interleavings are tried.
inline void relax(int round) {
#ifdef STEELYARD_EXPLORE
  static_cast<void>(round);
  explorer::pause();
#else
  wait::pass(round);
#endif
}

}  // namespace steelyard::loops
