// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

// What the queue and the heap keep in shared memory. A test that explores all orders of accesses compiles them with
// STEELYARD_EXPLORE, which makes each access a step (base/explorer.h) and the window so small that it is soon full.
#ifdef STEELYARD_EXPLORE
#include "base/explorer.h"
namespace steelyard::tasks {
using explorer::Atomic;
using explorer::Shared;
inline constexpr std::uint32_t kWindowTasks = 4;  // Size: of the test
}  // namespace steelyard::tasks
#else
namespace steelyard::tasks {
template <class T>
using Atomic = std::atomic<T>;
template <class T>
using Shared = T;
inline constexpr std::uint32_t kWindowTasks = 2048;  // Size: for each worker; 128 KiB
}  // namespace steelyard::tasks
#endif
