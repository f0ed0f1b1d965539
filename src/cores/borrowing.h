#pragma once
#include <cstdint>
#include <vector>

namespace steelyard::cores {

/// One execution of a parallel region whose last threads ran on borrowed cores. All times in ns.
struct BorrowedRegion {
  std::vector<std::int64_t> busy;  ///< time that each thread computed; those on borrowed cores come last
  int borrowed = 0;                ///< how many those are: at least one, and not all
  std::int64_t wall = 0;           ///< length of the region
  /// How long the slowest of those was ready to run while its CPU ran others; -1: not measured.
  std::int64_t delay = -1;
};

/// Decides whether a process borrows cores. Another program, or the owner, may keep a borrowed core busy: the thread on it
/// holds up its team, and the region takes longer than it would without that core. What borrowing won and lost is added up,
/// recent regions count most. While it loses, the process borrows nothing, for so long that losses stay below 1 % of its time.
/// Pure: the caller has the clock and takes the measurements.
class Borrowing {
 public:
  /// False during a pause.
  bool allowed(std::int64_t now) const { return now >= resume_; }
  /// True where the next region is to be measured: the last one may have been longer than without borrowed cores.
  bool wants_measurement(std::int64_t now) const { return suspicious_ && now >= next_measurement_; }
  void learn(const BorrowedRegion& region, std::int64_t now);

  int pauses() const { return pauses_; }
  /// Share of its time in which the slowest thread of regions that led to a pause had its core.
  double share_of_core() const { return pauses_ > 0 ? shares_ / pauses_ : 1; }

 private:
  double balance_ = 0;  // by how much regions have lately been longer than without borrowed cores (ns)
  std::int64_t last_ = 0;
  bool suspicious_ = false;
  std::int64_t next_measurement_ = 0;
  std::int64_t resume_ = 0;
  int pauses_ = 0;
  double shares_ = 0;  // added up over pauses
};

}  // namespace steelyard::cores
