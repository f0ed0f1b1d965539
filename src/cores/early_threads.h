#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "cores/core_table.h"
#include "node/segment.h"

namespace steelyard::cores {

/// Where a region begins shortly before another process will lend a core, the whole of it would run without that core. Such
/// a region begins with a thread too many, on the cores that the process has: an early thread. Who then falls asleep in MPI
/// puts it on his core. Threads that share a core for a while do the same work as one thread alone.
///
/// One process's view of all requests of the node, in shared memory. For the primary thread, but for meet() and has_come().
class EarlyThreads {
 public:
  static constexpr int kMost = 16;  ///< of one region
  static std::size_t footprint(int processes);
  EarlyThreads(node::Segment& segment, int processes, int me);

  // --- by him who needs cores ---
  /// By each thread that has bound itself: the primary knows it from now on.
  void meet(int thread);
  /// Before a region: those of its threads that begin without a core, on `cores` (numbered by the system), and until when
  /// (ns) the region is expected to last. They are put there while they are still asleep: where they have run last, the
  /// owner may compute now.
  void ask(int first_thread, int count, const std::vector<int>& cores, std::int64_t until);
  /// By each thread at its begin in a region: true for an early one, which is where it is to be.
  bool has_come(int thread, const std::vector<int>& cores) {
    return thread >= first_.load(std::memory_order_relaxed) && come(thread, cores);
  }
  /// After the region.
  void withdraw();
  /// True once after somebody has given cores: they are in use here by the table.
  bool given() {
    const std::uint32_t now = requests_[me_].given.load(std::memory_order_acquire);
    return now != seen_ && (seen_ = now, true);
  }

  // --- by him who lends ---
  /// Puts early threads of others on `core`, which is lent and numbered `os_index` by the system. False where nobody wants it.
  bool anybody_asks() const { return open_->load(std::memory_order_relaxed) > 0; }
  bool give(CoreTable& table, int core, int os_index);

 private:
  struct alignas(64) Request {
    std::atomic<std::uint64_t> names;  // where its numbers of threads are valid
    std::atomic<std::int32_t> wanted;  // early threads that have no core yet
    std::atomic<std::uint32_t> given;
    std::atomic<std::int64_t> until;
    std::atomic<std::int32_t> thread[kMost];  // as the system knows them; 0: not here yet, or has its core
  };
  bool come(int thread, const std::vector<int>& cores);

  static constexpr int kMostKnown = 256;

  const std::uint64_t names_;  // the namespace in which the system's numbers of threads mean the same

  std::atomic<std::int32_t>* open_;  // requests of the node
  Request* requests_;                // by process
  int processes_;
  int me_;
  bool asking_ = false;
  std::uint32_t seen_ = 0;
  std::int32_t placed_[kMost] = {};  // threads that ask() has put where they are to be
  std::atomic<int> first_{std::numeric_limits<int>::max()};
  std::atomic<std::int32_t> known_[kMostKnown] = {};  // by thread of the team, as the system knows them
};

/// Learns which regions of a program see cores come free while they run.
class EarlyRegions {
 public:
  /// Cores that the region of this key is likely to be given on its way.
  int likely(std::uint64_t region) const;
  /// How many came free early enough to be worth it, in one execution.
  void learn(std::uint64_t region, int came_free);

 private:
  struct Experience {
    int trust = 0;
    int cores = 0;
  };
  std::unordered_map<std::uint64_t, Experience> experience_;
};

}  // namespace steelyard::cores
