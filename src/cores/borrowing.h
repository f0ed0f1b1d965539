// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>

#include "decide/settings.h"

namespace steelyard::cores {

/// One execution of a parallel region some of whose threads ran on borrowed cores. All times in ns.
struct BorrowedRegion {
  int threads = 0;             ///< of the team
  int borrowed = 0;            ///< threads on borrowed cores: at least one, and not all
  std::int64_t wall = 0;       ///< length of the region
  std::int64_t own_busy = 0;   ///< the longest time that a thread on an own core computed
  std::int64_t run_delay = 0;  ///< of the slowest thread on a borrowed core: ready to run while its CPU ran others
  bool measured = false;       ///< run_delay is known
};

/// Decides whether a process borrows cores, and how many.
///
/// If another program, or the owner, keeps a borrowed core busy, the thread on that core holds up its team, and the
/// region may take longer than on own cores alone. Gains and losses of borrowing are added up; recent regions count
/// most. As soon as losses outweigh gains, the process pauses, so long that the loss is within the exploration budget.
///
/// Each thread that the last team did not have must be made or woken, one after the other, and bound. The process
/// measures how long that takes, and borrows no core whose thread would delay a region by more than it shortens it.
///
/// Measured with tests/end_to_end/programs/starved.c (real, Open MPI, 2 ranks on a core each, 5 rounds):
/// with three other programs on the borrowed core, 3.24 to 5.75 s with this check, 5.50 to 5.82 s without it, 3.13 to
/// 3.18 s natively. Pure: the caller has the clock and takes the measurements.
class Borrowing {
 public:
  explicit Borrowing(const decide::Settings& settings) : exploration_(settings.exploration) {}

  /// False during a pause.
  bool allowed(std::int64_t now) const { return now >= resume_; }
  /// True if the region that begins now is to be measured: regions like it may lately have been held up.
  /// @param expected its expected length, ns
  bool wants_measurement(std::int64_t now, std::int64_t expected) const;
  /// After a region, which ends now.
  void learn(const BorrowedRegion& region, std::int64_t now);

  /// How many threads pay in a region that takes `length` ns on `own` cores, on which its work is divided evenly.
  /// Without recent measurements, any number.
  int threads_worth(int own, double length, std::int64_t now) const;
  /// A region had `added` threads more than the last one, and `delay` ns went by until all had begun.
  void learn_begin(int added, std::int64_t delay, std::int64_t now);

  int pauses() const { return pauses_; }

 private:
  double exploration_;  // share of the run time that the loss may cost
  double balance_ = 0;  // losses less gains, ns
  std::int64_t last_ = 0;
  std::int64_t suspicious_until_ = 0;
  std::int64_t next_measurement_ = 0;
  std::int64_t resume_ = 0;
  int pauses_ = 0;
  std::array<double, 5> delays_{};  // ns by added thread: the last ones, of which the median counts
  std::int64_t delays_known_ = 0;
  std::int64_t last_begin_ = 0;
};

}  // namespace steelyard::cores
