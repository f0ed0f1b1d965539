// SPDX-License-Identifier: BSD-3-Clause
#include "session/cpu_use.h"

#include <sys/resource.h>

#include <algorithm>

#include "node/cgroup.h"
#include "node/run_delay.h"

namespace steelyard::session {
namespace {

/// 0 for a thread that `use` does not know: it began later.
std::int64_t run_delay_of(int thread, const CpuUse& use) {
  const auto found = use.run_delay.find(thread);
  return found == use.run_delay.end() ? 0 : found->second;
}

}  // namespace

std::int64_t CpuUse::run_delay_since(const CpuUse& start) const {
  std::int64_t longest = -1;
  for (const auto& [thread, delay] : run_delay) longest = std::max(longest, delay - run_delay_of(thread, start));
  return longest;
}

void CpuUse::leave_out(const CpuUse& begin, const CpuUse& end) {
  seconds += end.seconds - begin.seconds;
  throttled += end.throttled - begin.throttled;
  for (const auto& [thread, delay] : end.run_delay) run_delay[thread] += delay - run_delay_of(thread, begin);
}

CpuUse cpu_use() {
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(use.ru_utime) + seconds(use.ru_stime), node::run_delays(), node::throttled_time()};
}

}  // namespace steelyard::session
