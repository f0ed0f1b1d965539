// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "tasks/pool.h"

namespace steelyard::tasks {
namespace {

// ns: if tasks are shorter than this, kTogether of them are timed together. They end before it is time to poll.
constexpr std::int64_t kShort = kPollEvery / kTogether;
// Format: MPI's counts are int. A result may be an input with a header and a sentence, as a failure in tasks.hpp is,
// and a message has a header of its own.
constexpr std::size_t kLargest = std::size_t{1} << 30, kLargestResult = kLargest + std::size_t{64} * 1024;

}  // namespace

Worker::Worker(Pool& pool, const Arena& arena, int index, bool primary, bool steals)
    : pool_(pool),
      arena_(arena),
      block_(arena.worker(index)),
      deque_(block_.window),
      heap_(arena.heap(index)),
      victims_(steals ? static_cast<std::size_t>(arena.workers() - 1) : 0,
               static_cast<std::uint64_t>(pool.rank()) * 1009 + index),
      index_(index),
      primary_(primary) {}

base::Status Worker::spawn(std::uint32_t function, std::uint64_t tag, std::int32_t owner, const void* input,
                           std::size_t bytes) {
  if (bytes > kLargest) {
    return base::Status::failure(
        base::Code::invalid_argument,
        fmt::format("the input of a task has {} bytes, and at most {} can travel: divide the task", bytes, kLargest));
  }
  Task task;
  task.tag = tag;
  task.owner = owner;
  task.bytes = static_cast<std::uint32_t>(bytes);
  task.function = function;
  task.origin = static_cast<std::uint32_t>(index_) + 1;
  if (!push(task, input)) {
    return base::Status::failure(
        base::Code::out_of_memory,
        fmt::format("no memory for the {} bytes of a task's input: spawn fewer before a run, or smaller ones", bytes));
  }
  count_spawned();
  publish();
  return {};
}

bool Worker::into_block(Task& task, const char* input) {
  const std::uint64_t block = heap_.take(task.bytes);
  if (block == 0) return false;
  std::memcpy(Heap::bytes(arena_.base(), block), input, task.bytes);
  task.block = block;
  return true;
}

bool Worker::push(Task& task, const void* input) {
  if (!task.in_block()) {
    if (task.bytes > 0) std::memcpy(task.inside, input, task.bytes);
    deque_.push(task);
    return true;
  }
  if (into_block(task, static_cast<const char*>(input))) {
    deque_.push(task);
    return true;
  }
  // Shared memory is full: this process keeps the input in its own memory until there is room.
  std::unique_ptr<char[]> copy(new (std::nothrow) char[task.bytes]);
  if (!copy) return false;
  std::memcpy(copy.get(), input, task.bytes);
  deque_.push_private({task, std::move(copy)});
  return true;
}

void Worker::receive(const Record& record, const char* input) {
  Task task;
  task.tag = record.tag;
  task.owner = record.owner;
  task.bytes = record.bytes;
  task.function = record.function;
  if (!push(task, input)) throw std::bad_alloc();
}

void Worker::publish() {
  deque_.publish(ns_per_task_, [this](Deque::Entry& entry) {
    if (entry.input == nullptr) return true;
    if (!into_block(entry.task, entry.input.get())) return false;
    entry.input.reset();
    return true;
  });
}

bool Worker::steal(Deque::Entry& entry, std::size_t askers, double fraction) {
  victims_.restart();
  for (std::size_t tries = 0; tries < victims_.size(); ++tries) {
    const std::size_t victim = victims_.next();
    const int index = static_cast<int>(victim) + (static_cast<int>(victim) >= index_ ? 1 : 0);
    if (!steal_from(arena_.worker(index), entry, askers, fraction)) continue;
    victims_.gave(victim);
    return true;
  }
  if (!arena_.node().message_threads.load(std::memory_order_relaxed)) return false;
  for (int receiver = arena_.workers(); receiver < arena_.blocks(); ++receiver) {
    if (steal_from(arena_.worker(receiver), entry, askers, fraction)) return true;
  }
  return false;
}

bool Worker::steal_from(WorkerBlock& victim, Deque::Entry& entry, std::size_t askers, double fraction) {
  if (victim.window.public_tasks() == 0) return false;
  stolen_.clear();
  const auto amount = [&](std::size_t available) { return amount_to_give(available, askers, fraction); };
  if (victim.window.steal(amount, stolen_) == 0) return false;
  // The oldest task runs first.
  entry = {stolen_.front(), nullptr};
  for (std::size_t i = 1; i < stolen_.size(); ++i) deque_.push(stolen_[i]);
  publish();
  return true;
}

std::size_t Worker::in_reach() const {
  std::size_t sum = deque_.size();
  for (int other = 0; other < arena_.blocks(); ++other) {
    if (other != index_) sum += arena_.worker(other).window.public_tasks();
  }
  return sum;
}

void Worker::give(std::size_t most, std::vector<Deque::Entry>& given) {
  deque_.take_oldest(most, given);
  for (int other = 0; given.empty() && other < arena_.blocks(); ++other) {
    if (other == index_) continue;
    stolen_.clear();
    arena_.worker(other).window.steal([most](std::size_t available) { return std::min(available, most); }, stolen_);
    for (const Task& task : stolen_) given.push_back({task, nullptr});
  }
}

std::size_t Worker::drop_all() {
  std::size_t dropped = 0;
  for (Deque::Entry entry; pop(entry); ++dropped) {
    release_input(entry);
    count_finished();
  }
  return dropped;
}

const char* Worker::input_of(const Deque::Entry& entry) const {
  if (!entry.task.in_block()) return entry.task.inside;
  return entry.input != nullptr ? entry.input.get() : Heap::bytes(arena_.base(), entry.task.block);
}

void Worker::release_input(const Deque::Entry& entry) {
  if (!entry.task.in_block() || entry.input != nullptr) return;
  WorkerBlock& owner = arena_.owner_of(entry.task.block);
  if (&owner == &block_) {
    heap_.give(entry.task.block);
  } else {
    Heap::push(arena_.base(), owner.returned, entry.task.block);
  }
}

std::int64_t Worker::execute(Deque::Entry& entry, std::int64_t now) {
  const Task& task = entry.task;
  const Function& function = pool_.function(task.function);
  Running view{input_of(entry), task.bytes, task.tag, task.owner, task.function, this};
  result_.clear();
  failed_ = false;
  running_ = true;
  function.body(function.self, view);
  running_ = false;
  release_input(entry);
  ++totals.executed;
  // Counted here, not when it is stolen: a task may be stolen several times before it is executed.
  if (task.origin == 0) {
    ++totals.stolen_remote;
  } else if (task.origin != static_cast<std::uint32_t>(index_) + 1) {
    ++totals.stolen_local;
  }
  if (function.returns || failed_) {
    const Record record{task.tag, task.owner, static_cast<std::uint32_t>(result_.size()), task.function, failed_};
    pool_.finish(*this, primary_, record, result_.data());
  } else {
    count_finished();
  }
  // A read of the clock takes as long as a short task, so several short tasks are timed together.
  ++untimed_;
  if (ns_per_task_ < kShort && untimed_ < kTogether) return now;
  const std::int64_t end = pool_.now();
  totals.busy_ns += end - now;
  ns_per_task_ += ((end - now) / untimed_ - ns_per_task_) / 8;
  untimed_ = 0;
  return end;
}

void Worker::set_result(const void* bytes, std::size_t size) {
  if (failed_) return;
  if (size > kLargestResult) {
    fail(fmt::format("the result of a task has {} bytes, and at most {} can travel: divide the task", size, kLargest));
    return;
  }
  const char* first = static_cast<const char*>(bytes);
  result_.assign(first, first + size);
}

void Worker::fail(std::string_view sentence) {
  failed_ = true;
  result_.assign(sentence.begin(), sentence.end());
}

// Each has one writer, so no atomic addition is needed.
void Worker::count_spawned() { block_.spawned.store(++spawned_, std::memory_order_release); }
void Worker::count_finished() { block_.finished.store(++finished_, std::memory_order_release); }

}  // namespace steelyard::tasks
