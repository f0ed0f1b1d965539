// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>

namespace steelyard::session {

/// CPU time and waits for a CPU of this process, until some time.
struct CpuUse {
  double seconds = 0;                     ///< on a core, of all threads, those that have ended included
  std::map<int, std::int64_t> run_delay;  ///< by node::run_delays()
  double throttled = 0;                   ///< core s, by node::throttled_time()

  /// The longest run delay of a thread from `start` to this, ns; -1 if it is not known. Threads that have ended since
  /// take theirs with them.
  std::int64_t run_delay_since(const CpuUse& start) const;
  /// Moves this start later, by what happened between `begin` and `end`.
  void leave_out(const CpuUse& begin, const CpuUse& end);
};

/// Until now. Reads a file for each thread, about 4 us.
CpuUse cpu_use();

}  // namespace steelyard::session
