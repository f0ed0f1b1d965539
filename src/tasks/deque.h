// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "tasks/heap.h"

namespace steelyard::tasks {

/// A task as it lies in a queue. Small inputs lie in it.
struct alignas(64) Task {
  static constexpr std::uint32_t kInside = 40;
  std::uint64_t tag = 0;       ///< the user's
  std::int32_t owner = 0;      ///< rank to which the result goes
  std::uint32_t bytes = 0;     ///< of the input
  std::uint32_t function = 0;  ///< its number in the pool
  std::uint32_t reserved = 0;
  union {
    char inside[kInside] = {};
    std::uint64_t block;  ///< in the node's shared memory, where the input is larger
  };
  bool in_block() const { return bytes > kInside; }
};
static_assert(sizeof(Task) == 64);

/// The queue of one worker, in shared memory: a window on the oldest tasks. Those in [head, split) are public: thieves
/// claim from the old end with one compare-and-swap. Those in [split, bottom) are the owner's, which needs no atomic
/// for them. What does not fit is kept by the owner behind it. No lock, and a thief that dies takes nothing but what it
/// has claimed.
struct Window {
  static constexpr std::uint32_t kTasks = 2048;
  alignas(
      64) std::atomic<std::uint64_t> ends;  ///< head in the upper half, split in the lower: one word for all thieves
  alignas(64) std::atomic<std::uint32_t> copied;  ///< of the claimed tasks, those that thieves have copied
  alignas(64) Task tasks[kTasks];

  static std::uint64_t pack(std::uint32_t head, std::uint32_t split) { return std::uint64_t{head} << 32 | split; }
  static std::uint32_t head(std::uint64_t ends) { return static_cast<std::uint32_t>(ends >> 32); }
  static std::uint32_t split(std::uint64_t ends) { return static_cast<std::uint32_t>(ends); }
  std::uint32_t public_tasks() const {
    const std::uint64_t now = ends.load(std::memory_order_relaxed);
    return split(now) - head(now);
  }

  /// For thieves: claims `amount(available)` of the public tasks and appends copies of them.
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

/// The owner's side.
class Deque {
 public:
  explicit Deque(Window& window) : window_(window) {}

  /// Inputs that do not lie in the task are `input`, if they could not be put into shared memory.
  struct Entry {
    Task task;
    std::unique_ptr<char[]> input;
  };

  void push(const Task& task);
  void push_private(Entry entry) { behind_.push_back(std::move(entry)); }
  /// The newest. False where there is none, or where thieves have got them all.
  bool pop(Entry& entry, std::int64_t ns_per_task);
  /// Makes tasks public, where thieves find few. `share(entry)`: puts an input into shared memory; false where it
  /// cannot be.
  template <class Share>
  void publish(std::int64_t ns_per_task, Share&& share) {
    if (!behind_.empty() && window_.public_tasks() < Window::kTasks / 4) refill(share);
    if (private_tasks() > 0) publish_window(ns_per_task);
  }

  /// The oldest, at most `most`, appended: to be given away.
  void take_oldest(std::size_t most, std::vector<Entry>& taken);

  std::size_t size() const { return private_tasks() + window_.public_tasks() + behind_.size(); }
  std::uint32_t private_tasks() const { return bottom_ - split_; }

 private:
  bool room();
  bool reclaim(std::int64_t ns_per_task);
  void publish_window(std::int64_t ns_per_task);
  /// Up, while thieves may move the head.
  void move_split(std::uint32_t split);
  template <class Share>
  void refill(Share&& share);

  Window& window_;
  std::uint32_t split_ = 0, bottom_ = 0;
  std::uint32_t free_from_ = 0;  ///< the oldest slot that may still be in use
  std::deque<Entry> behind_;     ///< newer than all in the window
};

template <class Share>
void Deque::refill(Share&& share) {
  while (!behind_.empty() && room() && share(behind_.front())) {
    window_.tasks[bottom_++ % Window::kTasks] = behind_.front().task;
    behind_.pop_front();
  }
}

}  // namespace steelyard::tasks
