#pragma once
#include <cstdint>
#include <optional>

#include "runtime/worksharing.h"

namespace steelyard::intercept {

/// What schedule(runtime) stands for in this thread's task: OMP_SCHEDULE, or what the program has set since.
struct RunSchedule {
  std::optional<runtime::Left> left;  ///< why such a loop is the runtime's; nothing where it is ours
  std::uint64_t grain = 1;            ///< iterations that stay together
};
/// Asks the OpenMP runtime: about 10 ns. All threads of a team have the same, or the program is not OpenMP.
RunSchedule run_schedule();

}  // namespace steelyard::intercept
