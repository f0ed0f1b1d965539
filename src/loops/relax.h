#pragma once
#include <sched.h>

namespace steelyard::loops {

/// Waits that are mostly a few hundred ns, but may be long where threads share a core.
inline void relax(int round) {
  if (round < 200) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  } else {
    sched_yield();
  }
}

}  // namespace steelyard::loops
