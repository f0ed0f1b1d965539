// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "decide/contest.h"

namespace steelyard::collectives {

/// Waits of ranks in broadcasts of one kind, summed up. They only grow.
struct Waits {
  std::int64_t ns = 0;
  std::int64_t count = 0;
  Waits& operator+=(const Waits& other) {
    ns += other.ns;
    count += other.count;
    return *this;
  }
};

/// Decides whether the broadcasts (or scatters) of one size class on a communicator are handled by the MPI library or
/// delivered through shared memory (between nodes: along the tree). A contest of the two (decide/contest.h).
///
/// - An execution of the contest is a block of successive broadcasts, or one broadcast if it only warms caches. Its
///   duration is the mean time from one broadcast to the next, plus the mean wait in it. The contest therefore compares
///   what the program would take, and a wait that is less than the exploration budget of that time decides nothing. No
///   wait is longer than the time between broadcasts of the critical rank, so no trial costs more than a few
///   executions of the leader.
/// - Between blocks, the leader has so many broadcasts unmeasured that measuring stays within the exploration budget.
///   If the library leads, no rank is told about these broadcasts.
///
/// Lies in shared memory, where zeros are its initial state. The roots of successive broadcasts call it in turn, and
/// tell the other ranks the answers. Pure: no clock and no messages.
class Comparison {
 public:
  /// The most broadcasts that one answer leaves to the library. A rank that has become late is noticed only afterwards.
  static constexpr std::uint32_t kMost = 1000;
  /// Broadcasts in a block. A contest takes rare long executions for disturbances, but waits for a rank that is late
  /// now and then count: with blocks of 4, those for a rank that is late to 1 in 11 broadcasts do
  /// (comparison_test.cpp).
  static constexpr std::int32_t kBlock = 4;

  /// How a broadcast is delivered.
  struct Next {
    bool by_board = true;    ///< through shared memory or the tree
    bool counted = true;     ///< the ranks add their waits in it
    std::uint32_t left = 0;  ///< the library has so many broadcasts after it, without another question
  };
  /// Sums over all ranks so far.
  struct Seen {
    Waits library, board;
  };
  struct Circumstances {
    std::int64_t now = 0;         ///< ns
    std::int64_t number = 0;      ///< of this broadcast among all collectives of the communicator
    int ranks = 1;                ///< that add a wait for each broadcast that is counted
    std::int64_t cost = 0;        ///< ns, of measuring a broadcast
    std::int64_t announcing = 0;  ///< ns, of telling the ranks that the library has a broadcast, beyond that
    decide::Settings settings = {};
  };

  /// Instead of the library, shared memory or the tree has the first broadcasts. Before the first call of next().
  void begin_by_board() { first_ = kBoard; }
  /// False if the next answer does not depend on the waits; next() then needs no sums.
  bool asks() const { return to_come_ == 0 && rest_ == 0; }
  Next next(const Seen& seen, const Circumstances& at);
  /// Shared memory is in the lead.
  bool board_leads() const { return board_leads_; }
  /// ns that each broadcast gains or, while the contest is open, could at most gain by it. 0 if the library has won.
  std::int64_t stake() const { return stake_; }

 private:
  enum : int { kLibrary, kBoard };
  /// Broadcasts by which a block is extended at most until the ranks have added their waits.
  static constexpr std::int32_t kExtended = 2 * kBlock;

  void measure(const Seen& seen, const Circumstances& at);
  void begin_block();
  std::uint32_t rest(const Circumstances& at);

  std::optional<decide::Duel> contest_;
  int first_ = kLibrary;
  int candidate_ = kLibrary;       ///< of the present block
  int blocks_ = 0;                 ///< of the leader in a row
  std::int32_t to_come_ = 0;       ///< broadcasts of the present block
  std::int32_t measured_ = 0;      ///< broadcasts that were measured since the last rest
  std::int32_t extended_ = 0;      ///< broadcasts by which the present block was extended
  std::uint32_t rest_ = 0;         ///< unmeasured broadcasts through shared memory that are to come
  std::uint32_t rests_ = 0;        ///< so far
  std::int64_t apart_ = 0;         ///< ns from one collective to the next, smoothed
  std::int64_t rested_at_ = 0;     ///< ns, of the last rest
  std::int64_t rest_number_ = -1;  ///< number of the broadcast at the last rest
  std::int64_t stake_ = 0;         ///< ns
  bool board_leads_ = false;
  Seen before_;  ///< when the last block was measured
};

}  // namespace steelyard::collectives
