// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::node {

/// Whether the processor itself can read what lies there. The memory of an accelerator it cannot, though it has
/// addresses in the same space: MPI libraries know what to do about it. About 1 ns where this thread has asked for a
/// place nearby before, and 0.1 us in processes with the driver of an accelerator.
bool is_host_memory(const void* address);

}  // namespace steelyard::node
