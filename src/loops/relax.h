// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sched.h>

#ifdef STEELYARD_EXPLORE
#include "loops/explorer.h"
#endif

namespace steelyard::loops {

/// Waits that are mostly a few hundred ns, but may be long where threads share a core.
inline void relax(int round) {
#ifdef STEELYARD_EXPLORE
  static_cast<void>(round);
  explorer::pause();
#else
  if (round < 200) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  } else {
    sched_yield();
  }
#endif
}

}  // namespace steelyard::loops
