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

// What the processes of a node see of each other's pool, in the memory that they share.
namespace steelyard::tasks {

/// The node's part in finding out that all is over; see ending.h.
struct alignas(64) NodeBlock {
  std::atomic<std::uint64_t> round;   ///< the round that is being gathered, and the outcome of the previous one
  std::atomic<std::uint32_t> asleep;  ///< workers that look for tasks
  std::atomic<bool> message_threads;  ///< a process of the node has a MessageThread
  alignas(64) std::atomic<std::uint64_t> children;        ///< nodes below this one in the tree that have reported
  std::atomic<std::uint64_t> spawned, finished, leaving;  ///< their sums
  std::atomic<std::uint64_t> leaver,
      last_leaver;  ///< their highest; and that of the last outcome. See TerminationRounds::Counts
  /// A Breach, packed: the one that ended the pool; and the last that a process of another node has sent, which is one
  /// if a process of this node is in the same run.
  alignas(64) std::atomic<std::uint64_t> broken;
  std::atomic<std::uint64_t> left_far;
  std::atomic<std::int64_t> looked;  ///< when a process last looked whether the others live, in ns
  std::atomic<bool> late_told;       ///< a process has told the neighbours that it frees the pool and waits for others
};

/// One process.
struct alignas(64) ProcessBlock {
  // Written before the others attach, then constant.
  std::int32_t rank;
  node::Life life;
  std::int32_t threads;
  alignas(64) Heap::Stack inbox;                       ///< blocks for it, the newest first
  alignas(64) std::atomic<std::uint64_t> entered;      ///< runs that it has come to
  std::atomic<std::uint64_t> sent_messages, received;  ///< messages between nodes
  std::atomic<std::uint32_t> leaving;                  ///< it frees the pool: 1; 2: since it calls MPI_Finalize
  std::atomic<std::int32_t> world;                     ///< its rank in MPI_COMM_WORLD, for messages
  std::atomic<bool> idle;                              ///< its primary thread looks for tasks
  /// Size: ranks of other nodes that its links say are missing in a run; see roll_call.cpp. More than a warning names
  /// (base::list_of_ranks).
  static constexpr int kFar = 16;
  alignas(64) std::atomic<std::uint64_t> far[kFar];

  /// As in TerminationRounds::Counts. Of a process that does not leave, as if it did without MPI_Finalize.
  std::uint32_t leaver() const {
    const auto number = static_cast<std::uint32_t>(world.load(std::memory_order_relaxed)) + 1;
    return 2 * number + (leaving.load(std::memory_order_relaxed) == 2 ? 1 : 0);
  }
};

/// One thread of a process that executes tasks; or its MessageThread, which only receives and gives.
struct alignas(64) WorkerBlock {
  Window window;
  alignas(64) Heap::Stack returned;  ///< blocks that others gave back
  /// Tasks that came into being here, and that ended here: their result is consumed, or there is none.
  alignas(64) std::atomic<std::uint64_t> spawned;
  std::atomic<std::uint64_t> finished;
};

/// The memory itself: a sparse file of which each worker backs what it needs, so that it grows without a new mapping
/// in any process. Its name is gone before create() returns: a crash leaves nothing behind.
class Arena {
 public:
  /// Collective over all ranks: where one cannot have it, all get the failure. `threads`: workers of this process.
  /// `receivers`: each process has a further block, for tasks that arrive while its primary thread executes a task.
  static base::Status create(Transport& transport, int threads, bool receivers, std::unique_ptr<Arena>& arena);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* base() const { return base_; }
  NodeBlock& node() const { return *reinterpret_cast<NodeBlock*>(base_); }
  int processes() const { return processes_; }
  ProcessBlock& process(int local) const { return reinterpret_cast<ProcessBlock*>(base_ + sizeof(NodeBlock))[local]; }
  int workers() const { return first_worker_.back(); }
  /// Workers, and behind them one receiver for each process, or none.
  int blocks() const { return workers() + receivers_; }
  int receiver(int local) const { return workers() + local; }
  int first_worker(int local) const { return first_worker_[static_cast<std::size_t>(local)]; }
  WorkerBlock& worker(int index) const { return *reinterpret_cast<WorkerBlock*>(base_ + region(index)); }
  /// The worker in whose heap a block lies.
  WorkerBlock& owner_of(std::uint64_t block) const { return worker(static_cast<int>((block - regions_) / reach_)); }
  Heap heap(int worker) const;

  /// A block for a process: lock-free, from any process.
  void post(int process, std::uint64_t block) const;
  /// All blocks that have come, the oldest first, appended.
  void collect(int process, std::vector<std::uint64_t>& blocks) const;

 private:
  explicit Arena(std::uint64_t reach) : reach_(reach) {}
  std::uint64_t region(int worker) const { return regions_ + static_cast<std::uint64_t>(worker) * reach_; }
  bool back(std::uint64_t offset, std::uint64_t bytes) const;

  const std::uint64_t reach_;  // of a worker's region
  int fd_ = -1;
  char* base_ = nullptr;
  std::uint64_t mapped_ = 0, regions_ = 0;
  int processes_ = 0, receivers_ = 0;
  std::vector<int> first_worker_;  // by process, and their number
};

}  // namespace steelyard::tasks
