#pragma once
#include <cstdint>
#include <vector>

namespace steelyard::node {

/// The CPUs (os_index) of this thread's affinity mask.
std::vector<int> affinity_mask();
/// The same when this was called first, which is to be before an OpenMP runtime binds the thread: what the launcher gave.
const std::vector<int>& mask_at_start();

/// Where the system's numbers of processes and threads mean the same; 0 where it cannot be told. Ranks in containers of their
/// own may share memory, and yet be numbered apart.
std::uint64_t pid_namespace();

/// The CPU (os_index) that the calling thread runs on now.
int this_cpu();

/// Binds the calling thread to one CPU. False where the kernel refuses: the thread stays where it was.
bool bind_this_thread(int os_index);
/// Gives the calling thread a whole set.
bool bind_this_thread(const std::vector<int>& os_indices);
/// Binds another thread, by its number in the system, perhaps of another process of this user.
bool bind_thread(int thread, const std::vector<int>& os_indices);

}  // namespace steelyard::node
