// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "session/worksharing.h"

namespace steelyard::intercept {

/// What schedule(runtime) stands for in this thread's task: OMP_SCHEDULE, or what the program has set since.
struct RunSchedule {
  std::optional<session::Left> left;  ///< why such a loop is the runtime's; nothing where it is ours
  std::uint64_t grain = 1;            ///< iterations that stay together
  /// LLVM's runtime ignores a schedule that was set inside of the region. If it is to divide such a loop, it is told
  /// this instead of "runtime", with the grain as the chunk. 0: nothing.
  std::int32_t call = 0;
  session::Schedule schedule = session::Schedule::dynamic;  ///< of a loop of ours
};
/// Asks the OpenMP runtime: about 10 ns.
RunSchedule run_schedule();
/// The same for the schedule(runtime) loop that this thread begins next in its region; once for each. The first thread
/// that comes to the loop asks for all: the marks of set_schedule() may differ between tasks.
RunSchedule run_schedule_of_region();

}  // namespace steelyard::intercept
