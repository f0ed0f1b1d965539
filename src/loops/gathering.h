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

// Where the threads of a team find each other that know no more of it than their own number.
namespace steelyard::loops {

/// A loop as a program's calls see it: with a team for each number of threads, and each place in nested regions.
class Gathering {
 public:
  /// `exclusive`: only one team at a time may be in it. Otherwise teams that are nested in different threads may be.
  explicit Gathering(Loop& loop, bool exclusive = false, Successions& all = successions());
  Loop& loop() const { return loop_; }

  /// Begins the loop as thread `here.thread` of a team of `here.threads`, of two or more. Pass `seat` to end().
  /// Failure: another team is in this loop, or the other threads of this team are in another loop. Also if this thread
  /// has not ended its last execution: then both executions are cancelled.
  struct Seat;
  base::Status begin(const openmp::Position& here, std::uint64_t count, Seat*& seat, std::uint64_t bounds = 0);
  static Member& member(Seat& seat);
  /// False if its thread is in no execution any more.
  static bool end(Seat& seat);

  /// A team for one caller alone, until it is given back. The caller tells its threads about the team.
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
