// SPDX-License-Identifier: BSD-3-Clause
// The queue of a worker and the heap behind it, under thieves.
#include "tasks/deque.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "tasks/plan.h"

namespace steelyard::tasks {
namespace {

constexpr std::int64_t kLong = 1'000'000, kShort = 100;

bool nothing_to_share(Deque::Entry&) { return true; }

Task numbered(std::uint64_t tag) {
  Task task;
  task.tag = tag;
  return task;
}

TEST(Deque, NewestFirstForItsOwnerOldestFirstForThieves) {
  auto window = std::make_unique<Window>();
  Deque deque(*window);
  for (std::uint64_t tag = 0; tag < 10; ++tag) deque.push(numbered(tag));
  deque.publish(kLong, nothing_to_share);
  EXPECT_EQ(window->public_tasks(), 10u);
  std::vector<Task> stolen;
  EXPECT_EQ(window->steal([](std::size_t n) { return n / 2; }, stolen), 5u);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(stolen[i].tag, i);
  Deque::Entry entry;
  for (std::uint64_t tag = 9; tag >= 5; --tag) {
    ASSERT_TRUE(deque.pop(entry, kLong));
    EXPECT_EQ(entry.task.tag, tag);
  }
  EXPECT_FALSE(deque.pop(entry, kLong));
}

TEST(Deque, WhatDoesNotFitWaitsBehindAndIsNotLost) {
  auto window = std::make_unique<Window>();
  Deque deque(*window);
  const std::uint64_t count = 3 * Window::kTasks + 17;
  std::set<std::uint64_t> seen;
  for (std::uint64_t tag = 0; tag < count; ++tag) {
    deque.push(numbered(tag));
    if (tag % 100 == 0) deque.publish(kLong, nothing_to_share);
  }
  EXPECT_EQ(deque.size(), count);
  std::vector<Task> stolen;
  std::vector<Deque::Entry> given;
  Deque::Entry entry;
  while (deque.size() > 0) {
    stolen.clear();
    given.clear();
    window->steal([](std::size_t n) { return std::min<std::size_t>(n, 100); }, stolen);
    for (const Task& task : stolen) EXPECT_TRUE(seen.insert(task.tag).second);
    deque.take_oldest(50, given);
    for (const auto& some : given) EXPECT_TRUE(seen.insert(some.task.tag).second);
    if (deque.pop(entry, kShort)) {
      EXPECT_TRUE(seen.insert(entry.task.tag).second);
    }
    deque.publish(kShort, nothing_to_share);
  }
  EXPECT_EQ(seen.size(), count);
}

/// What owner and thieves share, in processes of their own, too.
struct Stress {
  static constexpr std::uint64_t kTasks = 60'000;
  Window window;
  std::atomic<int> times[kTasks];  ///< how often each task was executed
  std::atomic<bool> over;

  void thieve(std::size_t askers) {
    std::vector<Task> stolen;
    while (!over.load()) {
      stolen.clear();
      if (window.steal([askers](std::size_t n) { return amount_to_give(n, askers, 0); }, stolen) == 0)
        std::this_thread::yield();
      for (const Task& task : stolen) ++times[task.tag];
    }
  }

  void own() {
    Deque deque(window);
    std::mt19937 dice(5);
    Deque::Entry entry;
    std::uint64_t next = 0;
    while (next < kTasks || deque.size() > 0) {
      for (unsigned burst = dice() % 50; burst > 0 && next < kTasks; --burst) deque.push(numbered(next++));
      deque.publish(dice() % 2 == 0 ? kLong : kShort, nothing_to_share);
      for (unsigned burst = dice() % 45; burst > 0 && deque.pop(entry, kShort); --burst) ++times[entry.task.tag];
    }
    while (window.copied.load() != Window::head(window.ends.load())) std::this_thread::yield();
    over = true;
  }

  void expect_each_task_once() const {
    for (std::uint64_t tag = 0; tag < kTasks; ++tag) ASSERT_EQ(times[tag].load(), 1) << tag;
  }
};

TEST(Deque, EveryTaskIsExecutedOnceUnderThievesOfThisProcess) {
  const auto stress = std::make_unique<Stress>();
  std::vector<std::thread> thieves;
  for (std::size_t askers = 1; askers <= 3; ++askers) thieves.emplace_back(&Stress::thieve, stress.get(), askers);
  stress->own();
  for (std::thread& thief : thieves) thief.join();
  stress->expect_each_task_once();
}

TEST(Deque, EveryTaskIsExecutedOnceUnderThievesOfOtherProcesses) {
  void* const memory = mmap(nullptr, sizeof(Stress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const stress = new (memory) Stress();
  std::vector<pid_t> thieves;
  for (std::size_t askers = 1; askers <= 3; ++askers) {
    thieves.push_back(fork());
    ASSERT_GE(thieves.back(), 0);
    if (thieves.back() == 0) {
      stress->thieve(askers);
      _exit(0);
    }
  }
  stress->own();
  for (const pid_t thief : thieves) {
    int status = -1;
    EXPECT_EQ(waitpid(thief, &status, 0), thief);
    EXPECT_EQ(status, 0);
  }
  stress->expect_each_task_once();
  munmap(memory, sizeof(Stress));
}

class Memory {
 public:
  explicit Memory(std::uint64_t limit) : limit_(limit), bytes_(new char[64 + limit]()) {}
  Heap heap() {
    return Heap(bytes_.get(), 64, 64 + limit_, returned,
                [this](std::uint64_t offset, std::uint64_t bytes) { return offset + bytes <= allowed; });
  }
  char* base() { return bytes_.get(); }
  Heap::Stack returned{0};
  std::uint64_t allowed = ~std::uint64_t{0};

 private:
  std::uint64_t limit_;
  std::unique_ptr<char[]> bytes_;
};

TEST(Heap, BlocksDoNotOverlapAndAreUsedAgain) {
  Memory memory(4 << 20);
  Heap heap = memory.heap();
  std::mt19937 dice(1);
  struct Held {
    std::uint64_t block;
    std::size_t bytes;
    char mark;
  };
  std::vector<Held> held;
  for (int i = 0; i < 20'000; ++i) {
    if (held.size() < 50 && dice() % 2 == 0) {
      const std::size_t bytes = dice() % (dice() % 10 == 0 ? 20'000 : 300);
      const std::uint64_t block = heap.take(bytes);
      ASSERT_NE(block, 0u);
      EXPECT_EQ(block % 16, 0u);
      std::fill_n(Heap::bytes(memory.base(), block), bytes, static_cast<char>(i));
      held.push_back({block, bytes, static_cast<char>(i)});
    } else if (!held.empty()) {
      std::swap(held[dice() % held.size()], held.back());
      const char* bytes = Heap::bytes(memory.base(), held.back().block);
      for (std::size_t b = 0; b < held.back().bytes; ++b) ASSERT_EQ(bytes[b], held.back().mark);
      if (dice() % 2 == 0) {
        heap.give(held.back().block);
      } else {
        Heap::push(memory.base(), memory.returned, held.back().block);
      }
      held.pop_back();
    }
  }
  EXPECT_LT(heap.allocated(), std::uint64_t{4 << 20});
}

TEST(Heap, SaysNoWhereMemoryEnds) {
  Memory memory(1 << 20);
  memory.allowed = 64 + 300 * 1024;
  Heap heap = memory.heap();
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t block = heap.take(1000); block != 0; block = heap.take(1000)) blocks.push_back(block);
  EXPECT_GT(blocks.size(), 200u);
  EXPECT_EQ(heap.take(std::size_t{1} << 40), 0u);
  heap.give(blocks.back());
  EXPECT_EQ(heap.take(1000), blocks.back());
}

}  // namespace
}  // namespace steelyard::tasks
