// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

// Cores that the program lends and acquires itself (steelyard/cores.h). The primary thread calls these functions,
// outside of parallel regions. From the first of these calls on, except immovable_reason(), no plan changes this
// process's cores.
namespace steelyard::session {

/// Before start(): this process runs so many threads. 0: one for each core of its affinity mask. Later, it fails, and
/// warns: programs seldom look at the status.
base::Status declare_cores(int cores);
/// Empty if this process can lend and acquire cores now; otherwise why not: then the others do nothing and return 0.
std::string immovable_reason();
/// The CPUs that this process uses, its own first; if no core can move, those of the calling thread's affinity mask.
std::vector<int> cpus_in_use();
/// Takes own cores that have come free. Returns the CPUs in use, less those that other processes have asked for.
std::vector<int> poll_cores();
/// The program uses no other CPUs than these any more: the cores that others have asked for can be returned.
void return_wanted_cores(const std::vector<int>& kept);
/// Each returns a number of cores: lent, still missing, acquired.
int lend_cores(int most);
int reclaim_cores();
int acquire_cores(int most);
void release_cores();

}  // namespace steelyard::session
