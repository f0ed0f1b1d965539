// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "node/life.h"
#include "tasks/deque.h"
#include "tasks/heap.h"
#include "tasks/transport.h"

// What the processes of a node know of each other's pool, in shared memory.
namespace steelyard::tasks {

/// State of the node: termination detection (termination.h) and failures of the pool (pool_failure.h).
struct alignas(64) NodeBlock {
  std::atomic<std::uint64_t> round;         ///< the round whose counts are gathered, and the previous round's outcome
  std::atomic<std::uint32_t> idle_workers;  ///< workers that look for tasks
  std::atomic<bool> message_threads;        ///< a process of the node has a MessageThread
  alignas(64) std::atomic<std::uint64_t> children;  ///< nodes below this one in the tree that have reported
  std::atomic<std::uint64_t> spawned, finished,
      leaving;                                    ///< sums of what they have reported: TerminationRounds::Counts
  std::atomic<std::uint64_t> leaver;              ///< the highest that they have reported
  std::atomic<std::uint64_t> last_leaver;         ///< that of the last outcome
  alignas(64) std::atomic<std::uint64_t> broken;  ///< the PoolFailure that ended the pool, packed; 0: none
  /// The last PoolFailure that a process of another node has reported, packed. It is one for the processes of this node
  /// that are in the same run.
  std::atomic<std::uint64_t> left_elsewhere;
  std::atomic<std::int64_t> last_check;  ///< when a process last checked whether the others live, in ns
  std::atomic<bool> neighbours_told;     ///< a process has told the neighbours that it frees the pool and waits
  std::atomic<bool> told_of_helpers;     ///< a process has warned that its helpers are missing
};

/// State of one process.
struct alignas(64) ProcessBlock {
  // Written before the others attach, then constant.
  std::int32_t rank;
  node::Life life;
  std::int32_t threads;
  alignas(64) Heap::Stack inbox;                       ///< blocks sent to it, the newest first
  alignas(64) std::atomic<std::uint64_t> entered;      ///< the last run that it has entered
  std::atomic<std::uint64_t> sent_messages, received;  ///< messages between nodes
  std::atomic<std::uint32_t> leaving;  ///< 1: it frees the pool; 2: it does so because it calls MPI_Finalize
  std::atomic<std::int32_t> world;     ///< its rank in MPI_COMM_WORLD, for messages
  std::atomic<bool> idle;              ///< its primary thread looks for tasks
  /// Size: more ranks than a warning names (base::list_of_ranks).
  static constexpr int kMissingElsewhere = 16;
  /// Ranks of other nodes that are missing in a run, as the links of this process say; see missing_ranks.cpp.
  alignas(64) std::atomic<std::uint64_t> missing_elsewhere[kMissingElsewhere];

  /// TerminationRounds::Counts::leaver of this process. If it does not leave, as if it did without MPI_Finalize.
  std::uint32_t leaver() const {
    const auto number = static_cast<std::uint32_t>(world.load(std::memory_order_relaxed)) + 1;
    return 2 * number + (leaving.load(std::memory_order_relaxed) == 2 ? 1 : 0);
  }
};

/// One thread of a process that executes tasks; or its MessageThread, which only receives tasks and gives them away.
struct alignas(64) WorkerBlock {
  Window window;
  alignas(64) Heap::Stack returned;  ///< blocks of its heap that others have freed
  /// Tasks spawned here, and tasks finished here: their result was consumed, or they have none.
  alignas(64) std::atomic<std::uint64_t> spawned;
  std::atomic<std::uint64_t> finished;
};

/// The shared memory of a node: a sparse file in which each worker allocates the pages that it needs. So it grows
/// without a new mapping in any process. Its name is unlinked before create() returns: a crash leaves nothing behind.
class Arena {
 public:
  /// Collective over all ranks. If a rank cannot create it, all ranks get the failure.
  /// @param threads workers of this process
  /// @param receivers each process has a further WorkerBlock, for tasks that arrive while its primary thread executes
  /// one
  static base::Status create(Transport& transport, int threads, bool receivers, std::unique_ptr<Arena>& arena);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* base() const { return base_; }
  NodeBlock& node() const { return *reinterpret_cast<NodeBlock*>(base_); }
  int processes() const { return processes_; }
  ProcessBlock& process(int local) const { return reinterpret_cast<ProcessBlock*>(base_ + sizeof(NodeBlock))[local]; }
  int workers() const { return first_worker_.back(); }
  /// The number of WorkerBlocks: those of the workers, then one receiver for each process, or none.
  int blocks() const { return workers() + receivers_; }
  int receiver(int local) const { return workers() + local; }
  int first_worker(int local) const { return first_worker_[static_cast<std::size_t>(local)]; }
  WorkerBlock& worker(int index) const { return *reinterpret_cast<WorkerBlock*>(base_ + region(index)); }
  /// The worker in whose heap a block lies.
  WorkerBlock& owner_of(std::uint64_t block) const { return worker(static_cast<int>((block - regions_) / reach_)); }
  Heap heap(int worker) const;

  /// Sends a block to a process of the node. Lock-free; any process may call it.
  void post(int process, std::uint64_t block) const;
  /// Appends all blocks that this process was sent, the oldest first.
  void collect(int process, std::vector<std::uint64_t>& blocks) const;

 private:
  explicit Arena(std::uint64_t reach) : reach_(reach) {}
  /// Creates the file at the first process of the node, and maps its head: NodeBlock and ProcessBlocks. The number of
  /// workers follows from them. Collective over all ranks.
  base::Status share_head(Transport& transport, int threads);
  /// Maps the whole file, with the regions of the workers. Collective over all ranks.
  base::Status share_workers(Transport& transport);
  /// Maps the first `bytes` of the file in place of what was mapped. Otherwise returns false, with errno.
  bool map(std::uint64_t bytes, int flags);
  /// Allocates the WorkerBlocks of this process. Otherwise returns false, with errno.
  bool allocate_own(int local) const;
  std::uint64_t region(int worker) const { return regions_ + static_cast<std::uint64_t>(worker) * reach_; }
  /// Allocates this part of the file. Otherwise returns false, with errno.
  bool allocate(std::uint64_t offset, std::uint64_t bytes) const;

  const std::uint64_t reach_;  // bytes of a worker's region
  int fd_ = -1;
  char* base_ = nullptr;
  std::uint64_t mapped_ = 0, regions_ = 0;
  int processes_ = 0, receivers_ = 0;
  std::vector<int> first_worker_;  // by process; the last entry is the number of workers
};

}  // namespace steelyard::tasks
