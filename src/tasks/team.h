// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace steelyard::tasks {

/// The threads of a process that help in its runs. A run waits only for threads that have entered; a thread that comes
/// later finds it over. A thread that comes between two runs may be late for the first or early for the second: it is
/// early if it was in the first; otherwise it is late, as long as helpers are missing there.
class Team {
 public:
  explicit Team(int helpers) : helpers_(helpers) {}

  enum class Entry : std::uint8_t { seated, late, closing, full };
  struct Seat {
    Entry entry;
    int number;         ///< from 1: of a helper that is seated or one too many
    std::uint64_t run;  ///< to help in, until it is over
  };
  /// By a helper. Where a run is closing, it has to come again.
  Seat enter();
  void leave() { inside_.fetch_sub(1, std::memory_order_release); }
  bool over(std::uint64_t run) const { return over_.load(std::memory_order_acquire) >= run; }

  /// By the thread that runs: a run begins; no thread is late for the previous run any more.
  void open();
  /// It is over. Then, once empty, the next may be entered.
  void close();
  bool empty() const { return inside_.load(std::memory_order_acquire) == 0; }
  void reopen();

 private:
  static std::uint64_t next_number();

  const int helpers_;
  const std::uint64_t number_ = next_number();  // unlike an address, not used again
  std::mutex mutex_;
  int seats_ = 0, missing_ = 0;  // taken in this run; of the last one, not taken
  bool closing_ = false;
  std::atomic<int> inside_{0};
  std::atomic<std::uint64_t> over_{0};  // runs
};

}  // namespace steelyard::tasks
