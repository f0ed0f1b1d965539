// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "cores/core_table.h"
#include "decide/contest.h"
#include "node/segment.h"

namespace steelyard::cores {

/// A region that begins shortly before another process lends a core would run without that core to its end. So it
/// begins with a thread too many for each of its cores: an early thread, which shares the core for the time being. Two
/// threads on one core do the work of one. Who then falls asleep in MPI puts it on his own core.
///
/// One process's view of all requests of the node, in shared memory. For the primary thread, but for meet() and
/// has_come().
class EarlyThreads {
 public:
  static constexpr int kMost = 16;  ///< of one region
  static std::size_t footprint(int processes);
  EarlyThreads(node::Segment& segment, int processes, int me);

  // --- by him who needs cores ---
  /// By each thread that has bound itself: the primary knows it from now on.
  void meet(int thread);
  /// True where others could put threads of this process on their cores.
  bool possible() const;
  /// Before a region: its threads from `first_thread` on begin without a core, each beside the thread that is bound to
  /// its seat (as the system numbers CPUs). It is expected to last until `until` (ns). They are put there while they
  /// are still asleep: where they have run last, the owner may compute now.
  void ask(int first_thread, const std::vector<int>& seats, std::int64_t until);
  /// By each thread at its begin in a region: true for an early one, which is where it is to be.
  bool has_come(int thread) { return thread >= first_.load(std::memory_order_relaxed) && come(thread); }
  /// After the region.
  void withdraw();
  /// True once after somebody has given cores, or a thread was found elsewhere than it was thought to be. What was
  /// given is in use here by the table.
  bool changed();

  // --- by him who lends ---
  bool anybody_asks() const { return open_->load(std::memory_order_relaxed) > 0; }
  /// Puts an early thread of another process on `core`, which is lent and which the system numbers `os_index`. False
  /// where nobody wants it, or may have it.
  bool give(CoreTable& table, int core, int os_index, std::int64_t now);

 private:
  struct alignas(64) Request {
    std::atomic<std::uint64_t> names;  // where its numbers of threads are valid
    std::atomic<std::uint32_t> given;
    std::atomic<std::int64_t> until;
    std::atomic<std::int32_t> thread[kMost];  // early ones, as the system numbers them; 0: none, or it has its core
  };
  bool come(int thread);

  static constexpr int kMostKnown = 256;

  const std::uint64_t names_;        // the namespace in which the system's numbers of threads mean the same
  std::atomic<std::int32_t>* open_;  // requests of the node
  Request* requests_;                // by process
  int processes_;
  int me_;
  int next_ = 0;  // whom to ask first: nobody is always the last
  bool asking_ = false;
  std::uint32_t seen_ = 0;
  std::int32_t placed_[kMost] = {};  // threads that ask() has put on their seats
  int seat_[kMost] = {};
  std::atomic<bool> misplaced_{false};
  std::atomic<int> first_{std::numeric_limits<int>::max()};
  std::atomic<std::int32_t> known_[kMostKnown] = {};  // by thread of the team, as the system numbers them
};

/// Learns which regions of a program see cores come free while they run, and whether early threads make them shorter: a
/// contest between executions without them and with them.
class EarlyRegions {
 public:
  struct Execution {
    int came = 0;           ///< cores that came free while it ran, and early enough to be worth a thread more
    bool early = false;     ///< it had early threads
    int held = 1;           ///< cores that it began with
    std::int64_t wall = 0;  ///< ns
  };
  /// Cores that the region of this key is likely to be given while it runs; 0 if it should run without early threads.
  int likely(std::uint64_t region) const;
  void learn(std::uint64_t region, const Execution& execution);

 private:
  enum : int { kWithout, kWith, kWays };
  struct Experience {
    int trust = 0;
    int cores = 0;
    int held = 0;
    decide::Contest contest{kWays};
  };
  std::unordered_map<std::uint64_t, Experience> experience_;
};

}  // namespace steelyard::cores
