// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "loops/openmp.h"

// Threads of one team in different loops would each execute all iterations of their own loop, and later wait forever.
// Each loop has its own Team records (gathering.h), which do not show this. A Succession does.
namespace steelyard::loops {

/// Size: loops of which the order of a team is kept. Threads are up to 4 loops of the engine apart, and 7 of the OpenMP
/// runtime by default.
inline constexpr std::size_t kLoopsApart = 32;

/// Several teams of the process may look the same. Then different loops of one team are not detected.
struct Strangers {
  std::atomic<bool> here = false, awaited = false;
};

/// The loops that the threads of a team begin, one after the other, over all of its regions. The first thread that
/// begins its k-th loop determines the k-th loop of all threads.
class Succession {
 public:
  Succession(int threads, Strangers& strangers);

  /// Thread `thread` begins `loop` next. Takes about 15 ns.
  /// @param me identifies the calling thread in the process: if two threads are the n-th of a team, several teams look
  ///   the same
  /// @return the loop that others have begun instead; null if they have begun no other
  void* begin(int thread, void* loop, std::uint64_t me);
  /// After begin() has returned another loop: the loops that others have begun then, up to `loop`. Null if they have
  /// not begun `loop`.
  void* left_out(int thread, const void* loop);
  /// This loop is gone.
  void forget(const void* loop);

 private:
  static constexpr std::size_t kKept = kLoopsApart;  // a thread that is further behind is not checked
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

/// One Succession for each number of threads and each place in nested regions. Only for teams in outermost regions:
/// Steelyard cannot tell whether two nested teams are the same.
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
