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

/// A region that begins shortly before another process lends a core would run without that core to its end. Such a
/// region begins with one additional thread for each of its cores: a late-join thread, which shares the core at first.
/// Two threads on one core do the work of one. A process that then begins to wait in MPI binds the late-join thread to
/// its own core.
///
/// One process's view of all requests of the node, in shared memory. Only note_thread() and place_if_late() may be
/// called by other threads than the primary one.
class LateJoin {
 public:
  /// Size: late-join threads of one region, at most. A request has to fit into two cache lines.
  static constexpr int kMost = 16;
  static std::size_t footprint(int processes);
  LateJoin(node::Segment& segment, int processes, int me);

  // --- by a process that needs cores ---
  /// By each thread that has bound itself: its kernel ID is known to the primary thread from now on.
  void note_thread(int thread);
  /// True if another process can bind threads of this one.
  bool possible() const;
  /// Before a region: its threads from `first_thread` on begin without a core of their own, each beside the thread that
  /// is bound to its CPU. They are bound there while they are still asleep: the owner of the core on which they ran
  /// last may compute now.
  /// @param cpus the kernel's numbers of CPUs
  /// @param until ns: the expected end of the region
  void request(int first_thread, const std::vector<int>& cpus, std::int64_t until);
  /// By each thread at its begin in a region. Binds a late-join thread to its CPU, unless a lender has bound it.
  /// @return true if it is a late-join thread
  bool place_if_late(int thread) { return thread >= first_.load(std::memory_order_relaxed) && place(thread); }
  /// After the region.
  void withdraw();
  /// True once after another process has given cores, or after a thread was found bound elsewhere than expected. The
  /// core table lists the given cores as in use by this process.
  bool changed();
  /// What changed() is about to return.
  bool will_be_changed() const {
    return requests_[me_].given.load(std::memory_order_acquire) != seen_ || misplaced_.load(std::memory_order_relaxed);
  }

  // --- by a process that lends ---
  bool has_requests() const { return open_->load(std::memory_order_relaxed) > 0; }
  /// Binds a late-join thread of another process to a lent core of this process.
  /// @param os_index the kernel's number of the core's CPU
  /// @return false if no process requests it, or none may have it
  bool give(CoreTable& table, int core, int os_index, std::int64_t now);

 private:
  struct alignas(64) Request {
    std::atomic<std::uint64_t> pid_namespace;  // in which its thread IDs are valid
    std::atomic<std::uint32_t> given;
    std::atomic<std::int64_t> until;
    std::atomic<std::int32_t> thread[kMost];  // late-join threads, by kernel ID; 0: none, or it has its core
  };
  bool place(int thread);

  // Size: threads of a team whose kernel IDs are kept. Later threads of larger teams run without late-join.
  static constexpr int kMostKnown = 256;

  const std::uint64_t pid_namespace_;  // of this process; 0: unknown
  std::atomic<std::int32_t>* open_;    // requests of the node
  Request* requests_;                  // by process
  int processes_;
  int me_;
  int next_ = 0;  // the process that is served next: the order rotates
  bool requesting_ = false;
  std::uint32_t seen_ = 0;
  std::int32_t placed_[kMost] = {};  // threads that request() has bound to their CPUs
  int cpu_[kMost] = {};
  std::atomic<bool> misplaced_{false};
  std::atomic<int> first_{std::numeric_limits<int>::max()};
  std::atomic<std::int32_t> known_[kMostKnown] = {};  // by thread of the team: its kernel ID
};

/// Learns during which regions of a program cores come free, and whether late-join threads make these regions shorter.
/// Each region has a contest between executions without and with them, for each number of cores that it begins with.
class LateJoinRegions {
 public:
  explicit LateJoinRegions(const decide::Settings& settings) : settings_(settings) {}
  struct Execution {
    int came = 0;            ///< cores that came free while it ran, soon enough to be worth one more thread
    bool late_join = false;  ///< it had late-join threads
    int held = 1;            ///< cores that it began with
    std::int64_t wall = 0;   ///< ns
  };
  /// Cores that the region of this key is likely to be given while it runs, if it begins with `held` cores; 0 if it
  /// should run without late-join threads.
  int likely(std::uint64_t region, int held) const;
  void learn(std::uint64_t region, const Execution& execution);

 private:
  enum : int { kWithout, kWith, kWays };
  struct Key {
    std::uint64_t region;
    int held;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.region + static_cast<std::size_t>(key.held); }
  };
  struct Experience {
    int trust = 0;
    int cores = 0;
    decide::Contest contest;
  };
  decide::Settings settings_;
  std::unordered_map<Key, Experience, KeyHash> experience_;
};

}  // namespace steelyard::cores
