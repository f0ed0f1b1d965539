// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "loops/space.h"
#include "loops/team.h"
#include "observe/record.h"
#include "session/agreement.h"
#include "session/openmp.h"

// The loops of the program's own parallel regions, given to the engine of src/loops. `intercept` reports the
// regions and loops. Decisions on a loop follow from its site and its bounds alone, so that all threads of a team
// decide alike.
//
// The invariants of a Region, beyond those of a Team (loops/team.h):
//
// 1. Identity. A Region record belongs to one instance of a parallel region: from region_made(), before its team
//    exists, to region_gone(), after its team has joined. The thread that begins the region calls both. Instances of
//    one region that run at the same time have different records.
// 2. Reuse. After region_gone(), any later region may take the record, and finds `teams` as they are. Each Team is fit
//    for reuse: its threads have ended all loops that they began in it, and the same number of them, before the
//    region's team joined.
// 3. Access. region_made() writes `what` and `cells` and resets `run_schedules`. The region's threads read both, agree
//    on `run_schedules`, and add to `teams` under a lock; `teams` never shrinks.
// 4. Nesting. A nested region has a record of its own. The thread that begins it keeps its Place in the outer region,
//    where it may be in the middle of a loop. The other threads of the nested team come from no region that still runs.
//    A region that is nested too deep has no record, and its loops are the runtime's.
// 5. Cancellation. If OMP_CANCELLATION is true, all loops that ask for chunks are the runtime's. So no thread leaves a
//    Team in the middle of a loop, and a cancelled region leaves nothing in its record to a later one.
namespace steelyard::session {

/// The OpenMP runtime shows its regions: before the first of them. Loops are taken over from then on, if the options
/// say so.
void take_loops();
bool takes_loops();

struct TeamOfSize;

/// One instance of a parallel region, and the teams that are kept for later ones.
struct Region {
  Measured what = Measured::nothing;         ///< what is measured of it
  ThreadCells cells;                         ///< where its threads note their times
  Agreement run_schedules;                   ///< of its schedule(runtime) loops: see intercept/run_schedule.h
  std::atomic<TeamOfSize*> teams = nullptr;  ///< one for each number of threads that it has had
  bool measured() const { return cells.first != nullptr; }  ///< its threads are measured
};

/// A thread in a region, and in the loop that it has begun there last.
struct Place {
  enum class Loop { runtimes, ours, over };
  Region* region = nullptr;
  int thread = 0, threads = 1;
  Loop loop = Loop::runtimes;
  bool left_next = false;           ///< the next loop is the runtime's: the program has announced a doacross loop
  std::uint32_t run_schedules = 0;  ///< schedule(runtime) loops that it has begun in this region
  loops::Member* member = nullptr;
  loops::Space space;
  std::uint64_t limit = 0;  ///< where the last part of a half-open range ends, as the program wrote it
  std::uint64_t grain = 1;  ///< iterations that stay together, as the program wants it
  std::uint64_t alone = 0;  ///< iterations left of a thread that has no others
};

/// Size: regions that are open at a time. Loops in deeper ones are the runtime's.
inline constexpr int kDepth = 4;
struct Places {
  int depth = 0;
  std::array<Place, kDepth> nested;
};
// The preload library is there from the start: no call is needed to find its thread-local data.
extern constinit thread_local Places t_places __attribute__((tls_model("initial-exec")));

/// Null outside of regions, and in those that are too deep.
inline Place* place() {
  const auto depth = static_cast<std::size_t>(t_places.depth) - 1;
  return depth < kDepth ? &t_places.nested[depth] : nullptr;
}

/// True where a region that this thread begins next is not too deep.
inline bool may_nest() { return t_places.depth < kDepth; }
/// This thread begins a region, with the terms of region_begin(). Null where that is nested too deep.
Region* region_made(const RegionTerms& terms);
/// The record of all regions of the primary thread whose threads are not measured. Null where they are nested too deep.
Region* unmeasured_region();
/// A region has ended, and all its threads have left it.
void region_gone(Region* region);
/// This thread begins and ends its part of a region.
void entered(Region* region, int thread, int threads);
void left(int thread);
/// This thread begins a loop or sections, as all threads of its team do. Thread 0 says work_shared() for them.
inline void worksharing_begun() {
  const Place* const here = place();
  if (here != nullptr && here->thread == 0) work_shared();
}
/// Before loop_begun() or loop_left(). False if loops are not taken over: then neither is to be called.
inline bool follows_loops() {
  if (takes_loops()) return true;
  worksharing_begun();
  return false;
}
/// Why a loop is left to the runtime.
enum class Left { ordered, monotonic, asked, cancellable, other };
/// Why all loops of this process are left to the runtime; nothing if they are not. Called once the OpenMP runtime is
/// awake.
std::optional<Left> reason_to_leave();

/// What the program says of a loop's chunks.
enum class Schedule {
  dynamic,  ///< also `auto`: the iterations of one chunk stay together
  guided    ///< the next chunk is a share of the iterations that are left, and no smaller than the chunk size
};

/// This thread begins a loop: true if it is ours, in all threads of the team or in none. No `space`: bounds that
/// Steelyard cannot count. `chunk`: the chunk size.
bool loop_begun(std::uint64_t site, const std::optional<loops::Space>& space, std::uint64_t chunk,
                Schedule schedule = Schedule::dynamic);
/// It begins one that is not for us.
void loop_left(std::uint64_t site, Left reason);
/// The next iterations of this thread in a loop of ours, in numbers of iterations; false where there are none.
struct Part {
  std::uint64_t begin = 0, end = 0;
};
inline bool next_part(Place& here, Part& part);
/// This thread leaves a loop of ours, after next_part() has said that nothing is left.
void loop_ended(Place& here);

/// The process has waited in a collective for `ns`: the loop before could have taken so much longer at no cost.
void waited_in_collective(std::int64_t ns);
/// What the record says of this process's loops.
std::vector<observe::LoopRecord> loop_records();

inline bool next_part(Place& here, Part& part) {
  const std::uint64_t count = here.space.count;
  if (here.member == nullptr) {
    part = {0, here.alone};
    here.alone = 0;
    return part.end != 0;
  }
  loops::Chunk chunk;
  if (!here.member->next(chunk)) return false;
  part.begin = chunk.begin * here.grain;
  part.end = chunk.end * here.grain;
  if (part.end > count || part.end < part.begin) part.end = count;  // the last may be smaller
  return true;
}

}  // namespace steelyard::session
