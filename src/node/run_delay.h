// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>

namespace steelyard::node {

/// The thread ID of the calling thread in the system.
int thread_id();

/// How long a thread of this process has been ready to run while its CPU ran others, since the thread began (ns). By
/// the kernel's scheduler statistics (/proc/self/task/ID/schedstat): about 4 us a call. Returns -1 where there are
/// none.
std::int64_t run_delay(int thread_id);

/// run_delay() of each thread that this process has now, by thread ID. Empty where the calling thread's is not known.
std::map<int, std::int64_t> run_delays();

}  // namespace steelyard::node
