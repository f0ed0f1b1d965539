// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The atomics of the engine. A test that explores all interleavings compiles the engine with STEELYARD_EXPLORE and puts
// atomics of its own in their place, each operation of which is a step: base/explorer.h.
#ifdef STEELYARD_EXPLORE
#include "base/explorer.h"
namespace steelyard::loops {
template <class T>
using Atomic = explorer::Atomic<T>;
}
#else
#include <atomic>
namespace steelyard::loops {
template <class T>
using Atomic = std::atomic<T>;
}
#endif
