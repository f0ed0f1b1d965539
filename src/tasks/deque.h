// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "tasks/heap.h"
#include "tasks/shared_memory.h"

namespace steelyard::tasks {

/// A task in a queue. It contains its input if that is small.
struct alignas(64) Task {
  static constexpr std::uint32_t kInside = 40;  ///< Size: bytes that are left of a cache line.
  std::uint64_t tag = 0;                        ///< of the user
  std::int32_t owner = 0;                       ///< rank to which the result goes
  std::uint32_t bytes = 0;                      ///< of the input
  std::uint32_t function = 0;                   ///< its number in the pool
  std::uint32_t origin = 0;                     ///< worker of the node that spawned it, from 1; 0: another node
  union {
    char inside[kInside] = {};
    std::uint64_t block;  ///< of larger inputs: the Heap block that contains it
  };
  bool in_block() const { return bytes > kInside; }
};
static_assert(sizeof(Task) == 64);

/// The queue of one worker: a window in shared memory with its oldest tasks, and an overflow list in its own memory for
/// those that do not fit. The owner pushes and pops at the new end, without atomic operations except at the border to
/// the public part. Thieves (threads of any process of the node) claim tasks at the old end with one compare-and-swap.
/// Lock-free. All positions count from 0 and wrap at 2^32; a position's slot is its remainder by kTasks.
///
/// Invariants, which deque_orders_test.cpp checks in all orders of accesses:
///  1. free_from <= copied <= head <= split <= bottom <= free_from + kTasks. The owner alone knows bottom and
///     free_from.
///  2. Tasks in [head, split) are public, tasks in [split, bottom) the owner's. `ends` has both borders of the public
///     part: thieves raise head and the owner moves split, each by a compare-and-swap of both.
///  3. Slots in [free_from, split) are not written. Hence a public task is complete when split passes it, and a
///     claimed task stays in place until free_from passes it.
///  4. A thief reads a slot only after it has claimed it. Between its first look at `ends` and its claim the owner may
///     have taken the task back and published another one in its place.
///  5. The owner raises free_from to head only if `copied`, read before head, is equal to it. Then all claims up to
///     head have been copied. In the other order, a claim after the first read could be counted as copied in place of
///     an older claim that is still being copied.
///  6. If a thief dies, the tasks that it has claimed are lost; nothing else is. If it dies before it has copied them,
///     free_from stays, and once the window is full the owner puts new tasks into the overflow list.
struct Window {
  static constexpr std::uint32_t kTasks = kWindowTasks;
  alignas(64) Atomic<std::uint64_t> ends;    ///< head in the upper half, split in the lower: one word for all thieves
  alignas(64) Atomic<std::uint32_t> copied;  ///< how many of the claimed tasks thieves have copied
  alignas(64) Shared<Task> tasks[kTasks];

  static std::uint64_t pack(std::uint32_t head, std::uint32_t split) { return std::uint64_t{head} << 32 | split; }
  static std::uint32_t head(std::uint64_t ends) { return static_cast<std::uint32_t>(ends >> 32); }
  static std::uint32_t split(std::uint64_t ends) { return static_cast<std::uint32_t>(ends); }
  std::uint32_t public_tasks() const {
    const std::uint64_t now = ends.load(std::memory_order_relaxed);
    return split(now) - head(now);
  }

  /// For thieves: claims `amount(available)` of the public tasks and appends copies of them.
  /// @return how many
  template <class Amount>
  std::size_t steal(Amount&& amount, std::vector<Task>& stolen) {
    std::uint64_t now = ends.load(std::memory_order_acquire);
    for (;;) {
      const std::uint32_t first = head(now), available = split(now) - first;
      if (available == 0) return 0;
      const auto count = static_cast<std::uint32_t>(amount(std::size_t{available}));
      if (count == 0) return 0;
      if (!ends.compare_exchange_weak(now, pack(first + count, split(now)), std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        continue;
      for (std::uint32_t i = 0; i < count; ++i) stolen.push_back(tasks[(first + i) % kTasks]);
      copied.fetch_add(count, std::memory_order_release);
      return count;
    }
  }
};

/// The owner's side of the queue.
class Deque {
 public:
  explicit Deque(Window& window) : window_(window) {}

  /// A task, with its input if that is large and there was no room in shared memory.
  struct Entry {
    Task task;
    std::unique_ptr<char[]> input;
  };

  void push(const Task& task);
  /// Puts a task into the overflow list.
  void push_private(Entry entry) { overflow_.push_back(std::move(entry)); }
  /// Takes the newest task. False if there is none, or if thieves have claimed all.
  bool pop(Entry& entry, std::int64_t ns_per_task);
  /// Makes tasks public if few are. Moves tasks from the overflow list into the window.
  /// @param share `share(entry)` puts an input into shared memory; false if there is no room
  template <class Share>
  void publish(std::int64_t ns_per_task, Share&& share) {
    if (!overflow_.empty() && window_.public_tasks() < Window::kTasks / 4) refill(share);
    if (private_tasks() > 0) publish_window(ns_per_task);
  }

  /// Appends the oldest tasks, at most `most`, to `taken`, to give them away.
  void take_oldest(std::size_t most, std::vector<Entry>& taken);

  std::size_t size() const { return private_tasks() + window_.public_tasks() + overflow_.size(); }
  std::uint32_t private_tasks() const { return bottom_ - split_; }

 private:
  /// True if the window has a free slot.
  bool room();
  /// Takes public tasks back; false if thieves have claimed all.
  bool reclaim(std::int64_t ns_per_task);
  void publish_window(std::int64_t ns_per_task);
  /// Raises split, while thieves may move the head.
  void move_split(std::uint32_t split);
  template <class Share>
  void refill(Share&& share);

  Window& window_;
  std::uint32_t split_ = 0, bottom_ = 0;
  std::uint32_t free_from_ = 0;  ///< the oldest slot that may still be in use
  std::deque<Entry> overflow_;   ///< tasks that are newer than all in the window
};

template <class Share>
void Deque::refill(Share&& share) {
  while (!overflow_.empty() && room() && share(overflow_.front())) {
    window_.tasks[bottom_++ % Window::kTasks] = overflow_.front().task;
    overflow_.pop_front();
  }
}

}  // namespace steelyard::tasks
