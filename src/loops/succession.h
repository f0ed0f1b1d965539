// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "loops/openmp.h"

// Threads of one team that are in different loops would each run all of their own, and wait for ever later on. Loops
// have their teams for themselves (gathering.h): this is where it is noticed.
namespace steelyard::loops {

/// Several teams of the process may look the same. Then nothing can be told.
struct Strangers {
  std::atomic<bool> here = false, awaited = false;
};

/// The loops that the threads of a team begin, one after the other, over all of its regions: what is the k-th of
/// whoever comes there first is the k-th of all.
class Succession {
 public:
  Succession(int threads, Strangers& strangers);

  /// Thread `thread` begins `loop` next. What others have begun in its place; null where that is nothing else. About 15
  /// ns. `me` tells threads of the process apart: where a second one is the team's n-th, several teams look the same.
  void* begin(int thread, void* loop, std::uint64_t me);
  /// After another loop was found: what others have begun then, up to `loop`, if they have begun that.
  void* left_out(int thread, const void* loop);
  /// This loop is gone.
  void forget(const void* loop);

 private:
  /// Threads that are further behind are not looked at.
  static constexpr std::size_t kKept = 64;
  struct alignas(128) Seat {
    std::atomic<std::uint64_t> begun = 0, owner = 0;
  };
  struct alignas(64) Entry {
    std::atomic<std::uint64_t> turn = 0;  ///< twice the number of the loop, plus one while it is written, or two
    std::atomic<void*> loop = nullptr;
  };
  static std::uint64_t opening(std::uint64_t number) { return 2 * number + 1; }
  static std::uint64_t open(std::uint64_t number) { return 2 * number + 2; }
  void* at(std::uint64_t number) const;
  void* first_at(std::uint64_t number, void* loop);
  bool strangers_come();

  Strangers& strangers_;
  std::unique_ptr<Seat[]> seats_;
  std::array<Entry, kKept> entries_;
};

/// One for each number of threads and each place in nested regions. To be asked of teams in outermost regions: of
/// nested ones nobody can tell whether they are the same.
class Successions {
 public:
  Succession& of(const openmp::Position& here);
  /// Thread `me` is at `here`. Outermost teams look the same where several threads of the process have one each.
  void seen(const openmp::Position& here, std::uint64_t me);

 private:
  struct Known {
    std::uint64_t path;
    int threads;
    std::unique_ptr<Succession> succession;
  };
  std::mutex mutex_;
  std::vector<Known> known_;
  std::atomic<std::uint64_t> initial_ = 0;
  Strangers strangers_;
};

/// Those of this process: made at first use, never destroyed.
Successions& successions();

}  // namespace steelyard::loops
