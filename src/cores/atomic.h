// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <new>

#include "node/segment.h"
#ifdef STEELYARD_EXPLORE
#include "base/explorer.h"
#endif

// The atomics of the core table: std::atomic, except in core_table_test.cpp.
namespace steelyard::cores {

#ifdef STEELYARD_EXPLORE
template <class T>
using Atomic = explorer::Atomic<T>;
#else
template <class T>
using Atomic = std::atomic<T>;
#endif

/// Objects in shared memory, of which zeros are the initial state.
template <class T>
T* shared(node::Segment& segment, int count) {
  T* objects = segment.carve<T>(static_cast<std::size_t>(count));
#ifdef STEELYARD_EXPLORE
  for (int i = 0; i < count; ++i) new (objects + i) T();  // the explorer numbers its atomics
#endif
  return objects;
}

}  // namespace steelyard::cores
