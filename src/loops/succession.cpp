// SPDX-License-Identifier: BSD-3-Clause
#include "loops/succession.h"

#include <algorithm>
#include <chrono>

#include "loops/relax.h"
#include "wait/sleep.h"

namespace steelyard::loops {

Succession::Succession(int threads, Strangers& strangers)
    : strangers_(strangers), seats_(std::make_unique<Seat[]>(static_cast<std::size_t>(threads))) {}

void* Succession::at(std::uint64_t number) const {
  const Entry& entry = entries_[number % kKept];
  if (entry.turn.load(std::memory_order_acquire) != open(number)) return nullptr;
  void* const loop = entry.loop.load(std::memory_order_acquire);
  return entry.turn.load(std::memory_order_relaxed) == open(number) ? loop : nullptr;
}

void* Succession::first_at(std::uint64_t number, void* loop) {
  Entry& entry = entries_[number % kKept];
  for (int round = 0;; ++round) {
    std::uint64_t seen = entry.turn.load(std::memory_order_acquire);
    if (seen > opening(number)) return at(number);
    if (seen < opening(number) &&
        entry.turn.compare_exchange_strong(seen, opening(number), std::memory_order_acquire)) {
      entry.loop.store(loop, std::memory_order_release);
      entry.turn.store(open(number), std::memory_order_release);
      return loop;
    }
    relax(round);
  }
}

bool Succession::strangers_come() {
  // A worker of another initial thread may be here before that thread itself, which tells. To wait once is enough: a
  // process that has one initial thread by then is in the wrong.
  constexpr auto kGrace = std::chrono::seconds(1);
  const auto until = std::chrono::steady_clock::now() + kGrace;
  while (!strangers_.awaited.load(std::memory_order_relaxed) && !strangers_.here.load(std::memory_order_relaxed)) {
    wait::sleep_for(1'000'000);
    if (std::chrono::steady_clock::now() > until) strangers_.awaited.store(true, std::memory_order_relaxed);
  }
  return strangers_.here.load(std::memory_order_relaxed);
}

void* Succession::begin(int thread, void* loop, std::uint64_t me) {
  if (strangers_.here.load(std::memory_order_relaxed)) return nullptr;
  Seat& seat = seats_[static_cast<std::size_t>(thread)];
  std::uint64_t owner = 0;
  if (!seat.owner.compare_exchange_strong(owner, me, std::memory_order_relaxed) && owner != me) {
    strangers_.here.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  std::atomic<std::uint64_t>& mine = seat.begun;
  const std::uint64_t number = mine.load(std::memory_order_relaxed);
  void* const others = first_at(number, loop);
  const bool another = others != nullptr && others != loop && !strangers_come();
  mine.store(number + 1, std::memory_order_relaxed);
  return another ? others : nullptr;
}

void* Succession::left_out(int thread, const void* loop) {
  std::atomic<std::uint64_t>& mine = seats_[static_cast<std::size_t>(thread)].begun;
  const std::uint64_t number = mine.load(std::memory_order_relaxed);
  for (std::uint64_t later = number; later < number + kKept; ++later) {
    if (at(later) != loop) continue;
    mine.store(number + 1, std::memory_order_relaxed);
    return at(number);
  }
  return nullptr;
}

void Succession::forget(const void* loop) {
  for (Entry& entry : entries_) {
    void* its = entry.loop.load(std::memory_order_relaxed);
    if (its == loop) entry.loop.compare_exchange_strong(its, nullptr, std::memory_order_relaxed);
  }
}

Succession& Successions::of(const openmp::Position& here) {
  const std::lock_guard lock(mutex_);
  const auto its = std::ranges::find_if(
      known_, [&](const Known& known) { return known.path == here.path && known.threads == here.threads; });
  if (its != known_.end()) return *its->succession;
  known_.push_back({here.path, here.threads, std::make_unique<Succession>(here.threads, strangers_)});
  return *known_.back().succession;
}

void Successions::seen(const openmp::Position& here, std::uint64_t me) {
  if (here.thread != 0 || here.path != 0) return;
  std::uint64_t first = initial_.load(std::memory_order_relaxed);
  if (first == 0 && initial_.compare_exchange_strong(first, me, std::memory_order_relaxed)) return;
  if (first != me && !strangers_.here.load(std::memory_order_relaxed))
    strangers_.here.store(true, std::memory_order_relaxed);
}

Successions& successions() {
  static Successions& only = *new Successions;
  return only;
}

}  // namespace steelyard::loops
