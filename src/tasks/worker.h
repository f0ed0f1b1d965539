// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/arena.h"
#include "tasks/plan.h"
#include "tasks/wire.h"

namespace steelyard::tasks {

class Pool;
class Worker;

/// A task while it is executed.
struct Running {
  const void* input;
  std::size_t bytes;
  std::uint64_t tag;
  std::int32_t owner;
  std::uint32_t function;
  Worker* worker;
};

/// The function of a task. It passes its result to Worker::set_result() or Worker::fail(), or has none.
struct Function {
  void (*body)(void* self, Running& task) = nullptr;
  void* self = nullptr;
  bool returns = true;  ///< false: a task has no result unless it fails
};

struct Totals {
  std::uint64_t executed = 0, stolen_local = 0, stolen_remote = 0;
  std::int64_t busy_ns = 0;
};

/// One thread that executes tasks: its queue, its heap, and the result of the running task.
class Worker {
 public:
  /// @param index of its block in the arena
  /// @param primary it belongs to the thread that runs the pool
  /// @param steals  false: it never takes tasks of other workers
  Worker(Pool& pool, const Arena& arena, int index, bool primary, bool steals);

  base::Status spawn(std::uint32_t function, std::uint64_t tag, std::int32_t owner, const void* input,
                     std::size_t bytes);
  /// Adds a task that came from another node.
  void receive(const Record& record, const char* input);

  /// Takes its newest task; false if it has none.
  bool pop(Deque::Entry& entry) { return deque_.pop(entry, ns_per_task_); }
  /// Steals tasks of other workers of the node: `entry`, and perhaps more for its own queue. False if there are none.
  bool steal(Deque::Entry& entry, std::size_t askers, double fraction);
  /// Executes the task of `entry`.
  /// @param now the time of the last read of the clock
  /// @return the time of the last read of the clock, which is not read after each short task
  std::int64_t execute(Deque::Entry& entry, std::int64_t now);
  /// Makes tasks public if few are.
  void publish();

  /// Takes its oldest tasks, at most `most`, to give them away; if it has none, public tasks of another worker.
  void give(std::size_t most, std::vector<Deque::Entry>& given);
  const char* input_of(const Deque::Entry& entry) const;
  void release_input(const Deque::Entry& entry);

  /// Makes a worker that of the calling thread, while this lives.
  class Here {
   public:
    explicit Here(Worker& worker) : before_(std::exchange(here_, &worker)) {}
    ~Here() { here_ = before_; }
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    Worker* before_;
  };
  /// The worker of the calling thread, or null.
  static const Worker* here() { return here_; }

  // For the running task.
  void set_result(const void* bytes, std::size_t size);
  void fail(std::string_view sentence);
  bool running() const { return running_; }
  bool failed() const { return failed_; }

  void count_finished();
  /// Drops its tasks, which count as finished.
  /// @return how many they were
  std::size_t drop_all();
  /// True if this is its WorkerBlock.
  bool has(const WorkerBlock& block) const { return &block == &block_; }
  std::size_t queued() const { return deque_.size(); }
  /// Tasks that it could execute: its own, and the public ones of other workers of the node.
  std::size_t in_reach() const;
  std::int64_t ns_per_task() const { return ns_per_task_; }
  Pool& pool() const { return pool_; }
  Heap& heap() { return heap_; }

  Totals totals;
  std::vector<char> outbox;  ///< results of a thread that is not the primary one

 private:
  void count_spawned();
  bool steal_from(WorkerBlock& victim, Deque::Entry& entry, std::size_t askers, double fraction);
  bool push(Task& task, const void* input);
  /// Copies an input into its heap. False if there is no memory.
  bool into_block(Task& task, const char* input);

  inline static thread_local Worker* here_ = nullptr;

  Pool& pool_;
  const Arena& arena_;
  WorkerBlock& block_;
  Deque deque_;
  Heap heap_;
  Victims victims_;
  int index_;
  bool primary_;
  bool running_ = false, failed_ = false;
  std::uint64_t spawned_ = 0, finished_ = 0;
  std::int64_t ns_per_task_ = 1'000'000;  // before the first task has run: so long that all may be stolen
  std::int64_t untimed_ = 0;              // tasks since the last read of the clock
  std::vector<Task> stolen_;
  std::vector<char> result_;
};

}  // namespace steelyard::tasks
