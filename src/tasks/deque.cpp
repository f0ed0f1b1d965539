// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/deque.h"

#include <algorithm>

#include "tasks/plan.h"

namespace steelyard::tasks {

bool Deque::room() {
  if (bottom_ - free_from_ < Window::kTasks) return true;
  // Invariant 5. Thieves finish in any order, so slots are free only when all of them have finished.
  const std::uint32_t copied = window_.copied.load(std::memory_order_acquire);
  const std::uint32_t head = Window::head(window_.ends.load(std::memory_order_relaxed));
  if (copied == head) free_from_ = head;
  return bottom_ - free_from_ < Window::kTasks;
}

void Deque::push(const Task& task) {
  if (overflow_.empty() && room()) {
    window_.tasks[bottom_++ % Window::kTasks] = task;
  } else {
    overflow_.push_back({task, nullptr});
  }
}

bool Deque::pop(Entry& entry, std::int64_t ns_per_task) {
  if (!overflow_.empty()) {
    entry = std::move(overflow_.back());
    overflow_.pop_back();
    return true;
  }
  if (bottom_ == split_ && !reclaim(ns_per_task)) return false;
  entry.task = window_.tasks[--bottom_ % Window::kTasks];
  entry.input.reset();
  return true;
}

bool Deque::reclaim(std::int64_t ns_per_task) {
  std::uint64_t now = window_.ends.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t head = Window::head(now), available = split_ - head;
    if (available == 0) return false;
    const auto back = static_cast<std::uint32_t>(std::max<std::size_t>(amount_to_keep(available, ns_per_task), 1));
    if (window_.ends.compare_exchange_weak(now, Window::pack(head, split_ - back), std::memory_order_acq_rel,
                                           std::memory_order_relaxed)) {
      split_ -= back;
      return true;
    }
  }
}

void Deque::publish_window(std::int64_t ns_per_task) {
  const std::uint64_t now = window_.ends.load(std::memory_order_relaxed);
  const std::uint32_t owned = private_tasks();
  const std::uint32_t open = split_ - Window::head(now);
  const auto keep = static_cast<std::uint32_t>(amount_to_keep(owned + open, ns_per_task));
  // Only if thieves have nearly emptied the public part, since each change costs an atomic operation; for long tasks
  // always.
  if (owned <= keep || (keep > 0 && open > owned - keep)) return;
  move_split(bottom_ - keep);
}

void Deque::move_split(std::uint32_t split) {
  std::uint64_t now = window_.ends.load(std::memory_order_relaxed);
  while (!window_.ends.compare_exchange_weak(now, Window::pack(Window::head(now), split), std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
  }
  split_ = split;
}

void Deque::take_oldest(std::size_t most, std::vector<Entry>& taken) {
  if (most == 0) return;
  if (private_tasks() > 0) move_split(bottom_);
  std::vector<Task> found;
  window_.steal([most](std::size_t available) { return std::min(available, most); }, found);
  for (const Task& task : found) taken.push_back({task, nullptr});
  for (std::size_t left = most - found.size(); left > 0 && !overflow_.empty(); --left) {
    taken.push_back(std::move(overflow_.front()));
    overflow_.pop_front();
  }
}

}  // namespace steelyard::tasks
