#pragma once
#include <vector>

namespace steelyard::node {

/// The CPUs (os_index) of this thread's affinity mask; the mask that the launcher gave, when asked before anybody changes it.
std::vector<int> affinity_mask();

/// Binds the calling thread to one CPU. False where the kernel refuses: the thread stays where it was.
bool bind_this_thread(int os_index);
/// Gives the calling thread a whole set.
bool bind_this_thread(const std::vector<int>& os_indices);

}  // namespace steelyard::node
