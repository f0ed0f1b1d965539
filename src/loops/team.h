// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/atomic.h"
#include "base/status.h"
#include "loops/loop.h"
#include "loops/range.h"
#include "loops/victims.h"

// The engine: the threads of one team share out the iterations of a loop. Its invariants, for a team of two threads or
// more:
//
// 1. Membership. A Team serves a fixed set of threads. Only thread t calls member(t). All threads of the team go
//    through the same loops in the same order. A pass(), and a begin() that invariant 7 refuses, count as a loop. Loop
//    n of the team uses Instance n mod depth.
// 2. Turns. `turn` of that instance is 4n while it is free for loop n, 4n + 2 while one thread opens it, and 4n + 1
//    while it is open. The thread that changes 4n to 4n + 2 writes the loop, its plan and its ranges, and publishes
//    them with 4n + 1. They are read-only until the instance is free again. Before another thread has seen 4n + 1, it
//    reads nothing but `turn`.
// 3. Reuse. Each thread of the team adds 1 to `ended` once, as its last access to the instance. The thread that
//    completes the count closes the instance, then sets `turn` to 4(n + depth). So no thread is in an instance that is
//    reused. Threads wait for each other only in begin() and pass(): until the instance is free for their loop, or
//    open.
// 4. Words. Iterations that threads compete for are taken by a compare-and-swap on a word: one for each thread, one for
//    the pool. An empty word holds the round in which it became empty. If that is not the instance's round, the word
//    stands for the planned range, so opening an instance writes no words (except when the 32-bit round wraps). Only
//    the word's own thread writes a range to an empty word.
// 5. Closing. If no thread has cancelled the loop, all iterations have been given out once, and all ranges are empty.
//    Otherwise the closing thread sets all words to 0, a round that no instance has, and resets `cancelled`: the next
//    loop finds no trace of the cancelled one, and the Loop learns nothing from it.
// 6. Cancellation. A cancelled loop gives out each iteration at most once. Each thread of the team must still end it,
//    and gets no more chunks once it sees `cancelled`, also if it begins the loop after that. A thread cancels the loop
//    by cancel(), by end() before next() has returned false, by pass(), and by a begin() that is refused. Called loops
//    only: a program whose compiled loops may be cancelled keeps the runtime's (session/worksharing.h, 5).
// 7. Manners. begin() refuses another count or other bounds than the opening thread's. For a called loop, also another
//    Loop. The threads of a compiled loop may name copies of one loop: the opening thread's Loop is planned and
//    measured. Each of them gets the chunk with the last iteration after its other chunks, for lastprivate and linear.
namespace steelyard::loops {

/// Iterations [begin, end), numbered from 0.
struct Chunk {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Instance;
class Team;

/// Where the calls of a loop come from: invariant 7.
enum class Manner {
  called,   ///< from the program itself
  compiled  ///< from code that the compiler made
};

/// One thread of a team. Order of calls for each loop: begin(), next() until it returns false, end().
class alignas(128) Member {
 public:
  /// @param bounds a number that stands for the first iteration and the stride
  /// @return failure if this thread has not ended its last loop, or if invariant 7 refuses it: the loop is cancelled
  ///         then
  base::Status begin(Loop& loop, std::uint64_t count, Manner manner = Manner::called, std::uint64_t bounds = 0);
  /// The next chunk of this thread. False if no iterations are left, or the loop is cancelled. About 10 ns.
  bool next(Chunk& chunk) {
    if (stage_ == Stage::own && take_own(chunk)) [[likely]] {
      if (chunk.end != last_) [[likely]]
        return true;
      keep(chunk);
    }
    return next_elsewhere(chunk);
  }
  void end();
  void cancel();
  /// Instead of begin() and end(), for a thread that does not execute the loop. Waits until another thread has
  /// opened the loop.
  void pass();
  bool inside() const { return stage_ != Stage::outside; }
  /// True if this thread has opened its loop: it has begun the loop before the other threads of the team.
  bool opened() const { return opened_; }

 private:
  friend class Team;
  enum class Stage { outside, alone, fixed, own, pool, steal, replay, last, finished };

  bool take_own(Chunk& chunk);
  bool next_elsewhere(Chunk& chunk);
  bool take_elsewhere(Chunk& chunk);
  bool take_fixed(Chunk& chunk);
  bool take_pool(Chunk& chunk);
  bool take_from_others(Chunk& chunk);
  bool take_replayed(Chunk& chunk);
  bool rob(int victim, Chunk& chunk);
  int victim(int i) const;
  void look_where_it_runs();
  void order_victims();
  void give(Range range, Chunk& chunk);
  void keep(const Chunk& chunk);
  void count(const Chunk& chunk);
  /// Notes that no iterations of its own part are left.
  void leave_own_part();
  bool finish(Chunk& chunk);
  void give_up();

  Stage stage_ = Stage::outside;
  std::uint32_t round_ = 0;
  std::uint32_t chunk_ = 1;
  Range planned_;                               ///< the dynamic iterations of its part
  base::Atomic<std::uint64_t>* own_ = nullptr;  ///< the word of its range
  base::Atomic<bool>* cancelled_ = nullptr;
  std::uint64_t unit_ = 1, count_ = 0;
  std::uint64_t last_ = 0;  ///< the chunk that ends here comes at last; 0: none does
  std::uint64_t chunks_ = 0, iterations_ = 0;
  std::vector<Assignment::Piece>* log_ = nullptr;  ///< where the assignment is recorded

  Instance* instance_ = nullptr;
  Team* team_ = nullptr;
  int thread_ = 0;
  std::uint64_t number_ = 0;  ///< loops that it has begun
  bool opened_ = false;
  std::size_t replayed_ = 0;
  bool in_own_part_ = true;
  std::int64_t began_ = 0, left_own_part_ = 0;
  std::uint64_t own_iterations_ = 0;
  // Loops. Where the thread runs determines from which threads it steals first. It is checked when a loop begins and
  // when the thread's own part ends, never for a chunk. A thread that stays on its CPU looks at its binding only after
  // so many loops: it may be bound to this CPU now.
  static constexpr int kLookAgain = 256;
  int cpu_ = -1, loops_until_look_ = 0;
  std::uint32_t placement_ = 0;         ///< of the team, that `nearest_` is for
  std::vector<std::uint16_t> nearest_;  ///< empty: by number
  Chunk kept_;                          ///< what comes at last, while there is something else
  bool kept_in_own_part_ = false;
  std::int64_t kept_until_ = 0;
};

/// What a team of threads shares. Made once for a team and used for any number of loops. Allocates when it is made,
/// when it executes a loop for the first time, and when its threads have moved. Teams share nothing but the Loops that
/// they execute.
class Team {
 public:
  /// Size: loops in progress at a time. With `nowait`, a thread may be up to so many loops ahead of the slowest.
  static constexpr int kDepth = 4;
  explicit Team(int threads, int depth = kDepth);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }
  Member& member(int thread) { return members_[static_cast<std::size_t>(thread)]; }

 private:
  friend class Member;
  Instance& instance(std::uint64_t number) { return *instances_[number % instances_.size()]; }

  int threads_;
  std::unique_ptr<base::Atomic<Place>[]> places_;  ///< by thread, written by that thread; 0: no binding is known
  base::Atomic<std::uint32_t> placement_ = 0;      ///< changes with each change of places_
  std::vector<std::unique_ptr<Instance>> instances_;
  std::unique_ptr<Member[]> members_;
};

inline void Member::give(Range range, Chunk& chunk) {
  chunk.begin = range.begin * unit_;
  chunk.end = range.end * unit_;
  if (chunk.end > count_) chunk.end = count_;  // the last group may be smaller
  count(chunk);
}

inline void Member::count(const Chunk& chunk) {
  ++chunks_;
  iterations_ += chunk.end - chunk.begin;
  if (log_ != nullptr) [[unlikely]] {
    if (!log_->empty() && log_->back().end == chunk.begin)
      log_->back().end = chunk.end;
    else
      log_->push_back({chunk.begin, chunk.end});
  }
}

inline bool Member::take_own(Chunk& chunk) {
  if (cancelled_->load(std::memory_order_relaxed)) [[unlikely]]
    return false;
  // Relaxed: threads agree on this word only. The region's barriers order the loop's own data.
  std::uint64_t word = own_->load(std::memory_order_relaxed);
  for (;;) {
    const Range range = unpack(word, round_, planned_);
    if (range.empty()) return false;
    const std::uint32_t size = range.size() < chunk_ ? range.size() : chunk_;
    const Range rest{range.begin + size, range.end};
    if (own_->compare_exchange_weak(word, pack(rest, round_), std::memory_order_relaxed)) [[likely]] {
      give({range.begin, rest.begin}, chunk);
      return true;
    }
  }
}

}  // namespace steelyard::loops
