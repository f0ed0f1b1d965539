// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "loops/openmp.h"
#include "loops/succession.h"
#include "loops/team.h"

// How the threads of an OpenMP team find their Team, of which each knows only its own thread ID.
namespace steelyard::loops {

/// A loop as the program's calls use it: it has a Team for each number of threads and each place in nested regions.
class Gathering {
 public:
  /// @param exclusive only one team at a time may execute it; otherwise also teams nested in different threads
  explicit Gathering(Loop& loop, bool exclusive = false, Successions& all = successions());
  Loop& loop() const { return loop_; }

  /// Begins the loop as thread `here.thread` of a team of `here.threads`, at least two. Pass `seat` to end().
  /// Failure: another team is in this loop, or the other threads of this team are in another loop. Also if this thread
  /// has not ended its last execution: then both executions are cancelled.
  struct Seat;
  base::Status begin(const openmp::Position& here, std::uint64_t count, Seat*& seat, std::uint64_t bounds = 0);
  static Member& member(Seat& seat);
  /// False if its thread has left the execution already.
  static bool end(Seat& seat);

  /// A team for this caller alone, until give_back(). The caller passes it to its threads.
  Team& borrow(int threads);
  void give_back(Team& team);
  /// One execution at a time: false if there is one already.
  bool enter() { return !entered_.exchange(true, std::memory_order_acquire); }
  void leave() { entered_.store(false, std::memory_order_release); }

  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

 private:
  struct Round;
  Round& round(const openmp::Position& here);
  bool busy_elsewhere(const Round& mine);

  Loop& loop_;
  const bool exclusive_;
  Successions& successions_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Round>> rounds_;
  std::atomic<bool> several_rounds_ = false;
  std::atomic<Round*> latest_ = nullptr;
  std::vector<std::unique_ptr<Team>> teams_, idle_;
  std::atomic<bool> entered_ = false;
};

}  // namespace steelyard::loops
