// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace steelyard::tasks {

/// The threads of a process that help in its runs. A run waits only for threads that have entered it; a thread that
/// comes after its end does not help in it. A thread that comes between two runs may be late for the first or early for
/// the second: it is early if it was in the first; otherwise it is late, as long as helpers are missing there.
class Team {
 public:
  explicit Team(int helpers) : helpers_(helpers) {}

  enum class Entry : std::uint8_t {
    seated,   ///< it helps in the run
    late,     ///< the run is over
    closing,  ///< a run is closing: the thread must call enter() again
    full      ///< there are more helpers than were announced
  };
  /// The answer to a thread that wants to help.
  struct Seat {
    Entry entry;
    int number;         ///< of the helper, from 1, if it is `seated` or `full`
    std::uint64_t run;  ///< to help in, until it is over
  };
  /// For a thread that wants to help.
  Seat enter();
  /// For a helper that was seated: the run is over.
  void leave() { inside_.fetch_sub(1, std::memory_order_release); }
  bool over(std::uint64_t run) const { return over_.load(std::memory_order_acquire) >= run; }

  /// Whether any thread has ever come to help, also if it came too late.
  bool has_helped() const { return has_helped_.load(std::memory_order_relaxed); }

  /// For the thread that runs the pool: a run begins. From here on, no thread is late for the previous run.
  void open();
  /// For the thread that runs the pool: the run is over. When empty() is true, call reopen().
  void close();
  bool empty() const { return inside_.load(std::memory_order_acquire) == 0; }
  void reopen();

 private:
  static std::uint64_t next_number();

  const int helpers_;
  const std::uint64_t number_ = next_number();  // unlike an address, not used again
  std::mutex mutex_;
  int seats_ = 0;    // helpers in this run
  int missing_ = 0;  // helpers that the last run did not have
  bool closing_ = false;
  std::atomic<bool> has_helped_ = false;
  std::atomic<int> inside_{0};
  std::atomic<std::uint64_t> over_{0};  // the number of runs that are over
};

}  // namespace steelyard::tasks
