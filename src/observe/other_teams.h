// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "observe/team_time.h"
#include "observe/totals.h"

namespace steelyard::observe {

/// A team that runs beside what the primary thread does: that of a nested region, or of a region that another thread
/// has begun.
struct OtherTeam {
  const ThreadCell* cells = nullptr;
  int threads = 0;
  std::int64_t begin = 0;  ///< ns
  /// The thread that has begun it is a thread of an outer team, and its time is counted there.
  bool nested = false;
  int added() const { return nested ? threads - 1 : threads; }  ///< threads whose time is counted here alone
};

/// The other teams of a process, from any thread. Their thread time is added to that of the primary thread and its
/// teams.
class OtherTeams {
 public:
  void begin(const OtherTeam& team);
  /// `parts`: of the added threads.
  void end(const OtherTeam& team, std::int64_t now, const TeamParts& parts);
  /// Explicit tasks in nested regions of one thread, which need no begin() and end().
  void add_tasks(std::int64_t tasks);
  /// True from the first of these calls on.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  struct Reading {
    std::int64_t thread_time = 0;    ///< ns of added threads so far
    std::int64_t other_threads = 0;  ///< ns in which regions of other threads ran
  };
  Reading at(std::int64_t now) const;
  /// What the added threads have done until `now`, teams that still run included.
  void add_to(Totals& totals, std::int64_t now) const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::vector<const OtherTeam*> open_;
  std::int64_t thread_time_ = 0;  // of teams that have ended
  TeamParts ended_;
  std::int64_t regions_ = 0;  // of other threads, not nested
  int running_ = 0;           // of those
  std::int64_t running_since_ = 0;
  std::int64_t other_threads_ = 0;  // until running_since_
};

}  // namespace steelyard::observe
