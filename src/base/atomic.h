// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The atomics of code that a test explores in all interleavings: std::atomic. Such a test compiles the code with
// STEELYARD_EXPLORE, which makes each operation a step (explorer.h).
#ifdef STEELYARD_EXPLORE
#include "base/explorer.h"
namespace steelyard::base {
template <class T>
using Atomic = explorer::Atomic<T>;
}
#else
#include <atomic>
namespace steelyard::base {
template <class T>
using Atomic = std::atomic<T>;
}
#endif
