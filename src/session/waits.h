// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>

#include "observe/sites.h"

namespace steelyard::session {

/// A region shorter than this gains nothing by one more thread that must be woken and bound (ns).
inline constexpr float kWorthBorrowing = 200e3F;

/// In shorter waits no core is lent. ns: a sleep and a wake-up take as long (src/wait/back_off_benchmark: 20 + 25 us).
inline constexpr float kShortWait = 40e3F;

/// What is known of the waits of this process in blocking MPI calls, and for accelerators.
struct Waits {
  observe::Sites sites;
  std::map<int, double> waited_for;  ///< s, by world rank
  std::int64_t last_end = 0;         ///< of a blocking call, ns
};

/// True once the program has had a window for one-sided accesses.
bool windows_seen();

}  // namespace steelyard::session
