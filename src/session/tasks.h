// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "observe/record.h"

// Task pools of the program (steelyard/tasks.h).
namespace steelyard::session {

/// A task pool (steelyard/tasks.h) is about to run with so many threads at most. If it runs in a region, that region
/// gets no more threads from the next time on. If the pool would lose more by a move than other regions gain, this
/// process gets no more cores.
void pool_runs(int threads);
/// A task pool (steelyard/tasks.h) is freed: what it did at this rank. Nothing if this process is not measured.
void tasks_ended(const observe::TasksRecord& pool);

}  // namespace steelyard::session
