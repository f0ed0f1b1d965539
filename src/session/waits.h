// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>

#include "observe/sites.h"
#include "wait/back_off.h"

namespace steelyard::session {

/// A region shorter than this gains nothing by one more thread that must be woken and bound (ns).
inline constexpr float kWorthBorrowing = wait::kAtWork;

/// In shorter waits no core is lent: a sleep and a wake-up take as long, each about the time that is spun before (ns).
inline constexpr float kShortWait = 2 * wait::kMessage.spin;

/// What is known of the waits of this process in blocking MPI calls, and for accelerators.
struct Waits {
  observe::Sites sites;
  std::map<int, double> waited_for;  ///< s, by world rank
  std::int64_t last_end = 0;         ///< of a blocking call, ns
};

/// True once the program has had a window for one-sided accesses.
bool windows_seen();

}  // namespace steelyard::session
