// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace steelyard::node {

/// The CPUs (os_index) of this thread's affinity mask.
std::vector<int> affinity_mask();
/// The affinity mask that the launcher gave to this process: the one that was set, else that of the first call.
const std::vector<int>& mask_at_start();
/// Before the first call of mask_at_start(). For a process whose OpenMP runtime binds the initial thread as it is
/// loaded.
void set_mask_at_start(std::vector<int> os_indices);

/// Where the system's numbers of processes and threads mean the same; 0 where it cannot be told. Ranks in containers of
/// their own may share memory, and yet be numbered apart.
std::uint64_t pid_namespace();

/// The CPU (os_index) that the calling thread runs on now; on an emulated node the first that was noted for it.
int this_cpu();

/// On an emulated node binding is noted, and not done: from now on the calling thread counts as bound to these.
void note_binding(std::vector<int> os_indices);
/// What the calling thread is bound to: its affinity mask, or what was noted.
std::vector<int> bound_to();

/// Binds the calling thread to one CPU. False where the kernel refuses: the thread stays where it was.
bool bind_this_thread(int os_index);
/// Gives the calling thread a whole set.
bool bind_this_thread(const std::vector<int>& os_indices);
/// Binds another thread, by its number in the system, perhaps of another process of this user.
bool bind_thread(int thread, const std::vector<int>& os_indices);

}  // namespace steelyard::node
