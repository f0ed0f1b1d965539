// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

#include "observe/totals.h"

namespace steelyard::observe {

/// One thread in one execution of a region. Written by that thread, read by the thread that began the region, after the
/// region's last barrier.
struct alignas(64) ThreadCell {
  std::atomic<std::int64_t> begin{0};   // 0: the thread has not begun
  std::atomic<std::int64_t> open{0};    // begin of the barrier in which the thread is; 0 outside of barriers
  std::atomic<std::int64_t> waited{0};  // in barriers that it has left, those of nested regions included
  std::atomic<std::int64_t> end{0};     // end of its implicit task, if the runtime reports it before the region's end
  std::atomic<std::int64_t> gpu{0};     // in waits for an accelerator
  std::atomic<std::int64_t> mpi{0};     // in blocking MPI calls
  std::atomic<std::int64_t> forked{0};  // in the begin and the end of nested regions
  std::atomic<std::int32_t> gpu_waits{0}, tasks{0};
};
static_assert(sizeof(ThreadCell) == 64, "a cache line");

/// How threads spent one execution of a region, in ns.
struct TeamParts {
  std::int64_t useful = 0, imbalance = 0, scheduling = 0, gpu = 0, mpi = 0;
  std::int64_t gpu_waits = 0, tasks = 0;
  bool nests = false;  ///< one of them has begun a region with threads of its own
  std::int64_t capacity() const { return useful + imbalance + scheduling + gpu + mpi; }
  TeamParts& operator+=(const TeamParts& other);
  /// Adds all of them to the totals of a rank, but not to the capacity.
  void add_to(Totals& totals) const;
};
struct TeamSplit {
  TeamParts first, others;  ///< the thread that has begun the region; the other threads of its team
  /// Wall time for which MPI calls kept the whole team from computing: at most the longest time of a thread in MPI, and
  /// the time in which the thread that computed longest did not compute.
  std::int64_t in_mpi = 0;
  TeamParts all() const { return TeamParts(first) += others; }
};

/// A thread is done when it enters the last barrier; a region of one thread has none and ends with its task.
std::int64_t done_at(const ThreadCell& cell, std::int64_t now);
/// ns that it has waited for its team, of the time from its begin until `done`.
std::int64_t waited_until(const ThreadCell& cell, std::int64_t came, std::int64_t done);
/// `now`: the region's end, or any time before. The parts of each thread add up to the time from `begin` until then.
/// What a thread waits for its team during `in_mpi` is a part of `mpi`, not of `imbalance`.
TeamSplit split_team(const ThreadCell* cells, int team, std::int64_t begin, std::int64_t now);

}  // namespace steelyard::observe
