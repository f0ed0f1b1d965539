// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "observe/record.h"
#include "session/openmp.h"

// Regions beside the primary thread's outermost one: nested regions, and those that other threads begin. They are
// measured and keep the program's thread counts. Each thread keeps the teams that it begins, and counters for each
// place at which it begins them, so that threads which begin regions at the same time do not wait for each other.
namespace steelyard::session {

struct Session;

/// What the calling thread is in.
struct ThreadState {
  observe::ThreadCell* cell = nullptr;  ///< where it notes its times
  const std::atomic<std::uint64_t>* current = nullptr;
  std::uint64_t region = 0;  ///< its region still runs while `current` is this
  /// Its region does not descend from one of the primary thread's.
  bool of_other_thread = false;
};
extern constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec")));

/// The cell of this thread, where its event belongs to a region that runs now. A worker's last events of a region come
/// when the next one wakes it.
inline observe::ThreadCell* present_cell() {
  const ThreadState& here = t_state;
  const bool present =
      here.cell != nullptr && here.current != nullptr && here.region == here.current->load(std::memory_order_relaxed);
  return present ? here.cell : nullptr;
}

/// The same as region_begin(), thread_begin() and region_end(), for these regions.
RegionTerms other_region_begin(const RegionRequest& request, std::int64_t now);
/// `session`: as the thread found it: finish() may take it away meanwhile.
void other_thread_begin(Session& session, const ThreadCells& cells, int thread, int team, std::int64_t now);
void other_region_end(std::int64_t now);
/// True if the innermost region that this thread has begun and not ended is one of these.
bool in_other_region();

/// What the record says of them.
std::vector<observe::OtherRegion> other_regions();

}  // namespace steelyard::session
