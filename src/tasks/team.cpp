// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/team.h"

namespace steelyard::tasks {
namespace {

/// The last run for which the calling thread has come to help.
struct Helped {
  std::uint64_t team = 0, run = 0;
};
thread_local Helped t_helped;

}  // namespace

Team::Seat Team::enter() {
  has_helped_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  const std::uint64_t last = over_.load(std::memory_order_relaxed);
  if (missing_ > 0 && (t_helped.team != number_ || t_helped.run != last)) {
    --missing_;
    t_helped = {number_, last};
    return {Entry::late, 0, last};
  }
  if (closing_) return {Entry::closing, 0, last};
  if (seats_ >= helpers_) return {Entry::full, seats_ + 1, last};
  inside_.fetch_add(1, std::memory_order_relaxed);
  t_helped = {number_, last + 1};
  return {Entry::seated, ++seats_, last + 1};
}

void Team::open() {
  const std::lock_guard lock(mutex_);
  missing_ = 0;
}

void Team::close() {
  const std::lock_guard lock(mutex_);
  missing_ = helpers_ - seats_;
  closing_ = true;
  over_.fetch_add(1, std::memory_order_release);
}

void Team::reopen() {
  const std::lock_guard lock(mutex_);
  seats_ = 0;
  closing_ = false;
}

std::uint64_t Team::next_number() {
  static std::atomic<std::uint64_t> number{0};
  return ++number;
}

}  // namespace steelyard::tasks
