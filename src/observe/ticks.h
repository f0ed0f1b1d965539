// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

#include "node/segment.h"

namespace steelyard::observe {

/// What may mark the steps of a program, the surest first.
enum class TickSource { step, collective, region };
inline constexpr int kTickSources = 3;  ///< Size: of TickSource

/// One process's sums at one tick; cumulative, ns.
struct Tick {
  std::int64_t time = 0;
  std::int64_t region_useful = 0;
  std::int64_t region_wall = 0;
  std::int64_t serial = 0;
  std::int64_t mpi = 0;
  std::int64_t threads = 0;  ///< cores owned
};

/// The last ticks of every process of the node and every source, in shared memory. A process writes its own, without
/// waiting for another; the planner reads tick n of all, since tick n means the same moment of the program
/// everywhere.
class TickBoard {
 public:
  static constexpr std::int64_t kKept = 512;  ///< Size: of a source: 24 KiB a process

  static std::size_t footprint(int processes);
  TickBoard(node::Segment& segment, int processes, int me);

  /// In the header: it is called at each collective.
  void publish(TickSource source, const Tick& tick) {
    Ring& mine = ring(me_, source);
    const std::int64_t index = mine.count.load(std::memory_order_relaxed);
    mine.ticks[index % kKept] = tick;
    mine.count.store(index + 1, std::memory_order_release);
  }
  std::int64_t count(int process, TickSource source) const;
  /// False where it is not there yet, or no longer.
  bool read(int process, TickSource source, std::int64_t index, Tick& tick) const;

 private:
  struct Ring {
    std::atomic<std::int64_t> count;
    Tick ticks[kKept];
  };
  Ring& ring(int process, TickSource source) const { return rings_[process * kTickSources + static_cast<int>(source)]; }

  Ring* rings_;
  int me_;
};

}  // namespace steelyard::observe
