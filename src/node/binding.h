// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "node/cpu_set.h"

namespace steelyard::node {

/// The affinity mask of a thread, by its number in the system; of the calling thread if `thread` is 0. Empty if the
/// kernel does not tell.
CpuSet affinity_mask(int thread = 0);
/// The affinity mask that the launcher gave to this process: the one that was set, else that of the first call.
const CpuSet& mask_at_start();
/// Before the first call of mask_at_start(). For a process whose OpenMP runtime binds the initial thread as it is
/// loaded.
void set_mask_at_start(CpuSet cpus);

/// Where the system's numbers of processes and threads mean the same; 0 where it cannot be told. Ranks in containers of
/// their own may share memory, and yet be numbered apart.
std::uint64_t pid_namespace();

/// The CPU (os_index) that the calling thread runs on now; on an emulated node the lowest that was noted for it.
int this_cpu();

/// On an emulated node binding is noted, and not done: from now on the calling thread counts as bound to these.
void note_binding(CpuSet cpus);
/// What the calling thread is bound to: its affinity mask, or what was noted.
CpuSet bound_to();

/// False if the kernel refuses: the calling thread keeps its affinity mask, and errno says why.
bool bind_this_thread(const CpuSet& cpus);
/// Binds another thread, by its number in the system, perhaps of another process of this user.
bool bind_thread(int thread, const CpuSet& cpus);

}  // namespace steelyard::node
