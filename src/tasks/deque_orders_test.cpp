// SPDX-License-Identifier: BSD-3-Clause
// The queue of a worker and the heap behind it, in all orders of the accesses of an owner and of its thieves. A thief
// of another process makes the same accesses as one of this process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/explorer.h"
#include "tasks/deque.h"
#include "tasks/heap.h"

namespace steelyard::tasks {
namespace {

using explorer::Explorer;
using explorer::Outcome;
using explorer::Scenario;

constexpr std::int64_t kLong = 1'000'000, kShort = 100;  // ns per task: all tasks are public, or about half of them
constexpr std::uint64_t kMostRuns = 3'000'000;

/// An owner and thieves, and how often each task has been taken.
struct Queue {
  Window window{};
  Deque deque{window};
  std::uint64_t pushed = 0;
  std::vector<std::vector<Task>> stolen = std::vector<std::vector<Task>>(2);
  std::vector<std::uint64_t> taken;

  void push(int tasks) {
    for (; tasks > 0; --tasks) {
      Task task;
      task.tag = pushed++;
      deque.push(task);
    }
  }
  void publish(std::int64_t ns) {
    deque.publish(ns, [](Deque::Entry&) { return true; });
  }
  void pop(std::int64_t ns, int tasks) {
    for (Deque::Entry entry; tasks > 0 && deque.pop(entry, ns); --tasks) taken.push_back(entry.task.tag);
  }
  void give(std::size_t most) {
    std::vector<Deque::Entry> given;
    deque.take_oldest(most, given);
    for (const Deque::Entry& entry : given) taken.push_back(entry.task.tag);
  }
  void steal(std::size_t thief, std::size_t most) {
    window.steal([most](std::size_t available) { return std::min(available, most); }, stolen[thief]);
  }
  std::string wrong() {
    pop(kLong, 1000);
    for (const std::vector<Task>& tasks : stolen) {
      for (const Task& task : tasks) taken.push_back(task.tag);
    }
    std::vector<int> times(pushed);
    for (const std::uint64_t tag : taken) ++times[tag];
    const auto bad = std::ranges::find_if(times, [](int count) { return count != 1; });
    return bad == times.end() ? "" : fmt::format("task {} was taken {} times", bad - times.begin(), *bad);
  }
};

/// @param owner   what the owner does
/// @param steals  for each thief, how many tasks it takes at most in each of its attempts
void expect_each_task_once(const std::function<void(Queue&)>& owner, std::vector<std::vector<std::size_t>> steals) {
  const Outcome outcome = Explorer().explore(
      [&] {
        const auto queue = std::make_shared<Queue>();
        Scenario scenario{{[queue, &owner] { owner(*queue); }}, [queue] { return queue->wrong(); }};
        for (std::size_t thief = 0; thief < steals.size(); ++thief) {
          scenario.threads.emplace_back([queue, thief, &steals] {
            for (const std::size_t most : steals[thief]) queue->steal(thief, most);
          });
        }
        return scenario;
      },
      kMostRuns);
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_TRUE(outcome.complete);
  testing::Test::RecordProperty("orders", std::to_string(outcome.ended));
}

TEST(Deque, EachTaskIsTakenOnceIfTheOwnerTakesBackWhatItHasPublished) {
  for (const std::int64_t ns : {kLong, kShort}) {
    expect_each_task_once(
        [ns](Queue& queue) {
          queue.push(3);
          queue.publish(ns);
          queue.pop(ns, 2);
        },
        {{1, 1}, {2}});
  }
}

TEST(Deque, ASlotIsNotUsedAgainBeforeItsThiefHasCopiedIt) {
  expect_each_task_once(
      [](Queue& queue) {
        queue.push(4);
        queue.publish(kLong);
        queue.push(1);  // into the slot of a stolen task, or behind the window
        queue.push(1);
      },
      {{1}, {1}});
  expect_each_task_once(
      [](Queue& queue) {
        queue.push(4);
        queue.publish(kLong);
        queue.push(1);
        queue.publish(kLong);
        queue.pop(kLong, 1);
      },
      {{2}, {2}});
}

TEST(Deque, ATaskThatReplacesAPublishedOneIsTheOneThatIsStolen) {
  expect_each_task_once(
      [](Queue& queue) {
        queue.push(1);
        queue.publish(kLong);
        queue.pop(kLong, 1);
        queue.push(1);
        queue.publish(kLong);
      },
      {{1}, {1}});
}

TEST(Deque, WhatTheOwnerGivesAwayIsNotStolen) {
  expect_each_task_once(
      [](Queue& queue) {
        queue.push(3);
        queue.publish(kShort);
        queue.give(2);
        queue.pop(kShort, 1);
      },
      {{1}, {2}});
}

TEST(Heap, ABlockThatIsGivenBackIsTakenOnce) {
  constexpr std::uint64_t kFirst = 64, kBlock = 64;  // of the smallest size class
  struct Blocks {
    alignas(64) char memory[kFirst + 3 * kBlock] = {};
    Heap::Stack returned{0};
    Heap heap{memory, kFirst, sizeof(memory), returned, [](std::uint64_t, std::uint64_t) { return true; }};
    std::vector<std::uint64_t> held;
  };
  const Outcome outcome = Explorer().explore(
      [] {
        const auto blocks = std::make_shared<Blocks>();
        for (int i = 0; i < 3; ++i) blocks->held.push_back(blocks->heap.take(1));
        Scenario scenario;
        for (int i = 0; i < 2; ++i) {
          scenario.threads.emplace_back(
              [blocks, block = blocks->held.back()] { Heap::push(blocks->memory, blocks->returned, block); });
          blocks->held.pop_back();
        }
        const auto take = [blocks](int tries) {
          for (; tries > 0; --tries) {
            if (const std::uint64_t block = blocks->heap.take(1); block != 0) blocks->held.push_back(block);
          }
        };
        scenario.threads.emplace_back([take] { take(3); });
        scenario.verdict = [blocks, take] {
          take(3);
          std::ranges::sort(blocks->held);
          const bool once = std::ranges::adjacent_find(blocks->held) == blocks->held.end();
          return once && blocks->held.size() == 3 ? "" : "a block is lost, or has two users";
        };
        return scenario;
      },
      kMostRuns);
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_TRUE(outcome.complete);
  RecordProperty("orders", std::to_string(outcome.ended));
}

}  // namespace
}  // namespace steelyard::tasks
