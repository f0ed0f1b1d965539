// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "observe/other_teams.h"
#include "observe/team_time.h"
#include "observe/ticks.h"
#include "observe/totals.h"

namespace steelyard::observe {

/// For how long threads of a region's team ran without a core of their process, summed over threads, in ns.
struct TeamCores {
  std::int64_t without = 0;    ///< without a core of their own: they shared the cores of other threads
  std::int64_t borrowed = 0;   ///< on cores that other processes had lent
  std::int64_t came_late = 0;  ///< of borrowed: on cores that were lent after the region had begun
};

/// Thread time of one execution of a region, in ns. The rest of the capacity was spent in the OpenMP runtime.
struct TeamTime {
  std::int64_t capacity = 0, useful = 0, imbalance = 0;
  /// The region had explicit tasks, nested regions, MPI calls or waits for an accelerator. The shares of useful time
  /// and imbalance then differ from execution to execution.
  bool shares_vary = false;
};

/// Turns the events of one process into Totals. The primary thread's time is cut into computing alone, parallel
/// regions, waits for an accelerator and MPI; inside a region every thread's time is cut into useful work, MPI, waiting
/// at barriers or for an accelerator, and being forked or joined. Events of the primary come from the primary alone;
/// thread_* come from the thread itself.
class Activity {
 public:
  Activity();
  void start(std::int64_t now, int cores);
  /// Cores that the process owns from now on. While the primary thread computes alone or waits in MPI, the others idle.
  void own(int cores) { owned_ = cores; }

  void enter_mpi(std::int64_t now);
  void leave_mpi(std::int64_t now);
  /// The primary thread waits for an accelerator outside of regions. False, without effect, in MPI and other waits.
  bool enter_gpu(std::int64_t now);
  void leave_gpu(std::int64_t now);
  /// Outside of MPI, the primary thread waits for other ranks, or sleeps while they work (`quiesced`). May contain MPI
  /// calls. Counts as time in MPI.
  void begin_wait(std::int64_t now, bool quiesced);
  void end_wait(std::int64_t now);
  void region_begin(std::int64_t now, int most_threads);
  /// `team`: threads that took part.
  void region_end(std::int64_t now, int team, const TeamCores& cores = {});
  /// The same for a region of which only the wall time is measured. Its thread time is divided by the given shares.
  void unmeasured_region_begin(std::int64_t now) { close_stretch(now, State::region); }
  /// `without_core`: threads of the team that have shared the cores of the others.
  void unmeasured_region_end(std::int64_t now, int team, float useful_share, float imbalance_share,
                             int without_core = 0);
  /// A region of one thread has ended, which began and ended no stretch. So much of the primary's present stretch of
  /// computing alone counts as in regions.
  /// @param wall ns
  /// @param useful ns of these that were computing; the rest is the OpenMP runtime's
  void inactive_region(std::int64_t wall, std::int64_t useful) {
    inactive_.wall += wall;
    inactive_.useful += useful;
    ++totals_.regions;
  }
  /// The region that is about to end had virtual threads.
  void had_virtual_threads() { ++totals_.virtual_regions; }
  void lent(std::int64_t core_ns) { totals_.lent += core_ns; }
  /// A region that takes `own` ns on owned cores has taken `wall` with a team of `team` threads, more than the cores.
  /// The team can have done at most the work of `wall` on as many cores: a larger `own` comes from executions that
  /// other programs disturbed.
  void compared(std::int64_t wall, std::int64_t own, int team) {
    totals_.borrowing_wall += wall;
    totals_.borrowing_own += std::min(own, wall * team / std::max(1, owned_));
  }
  /// From now on, the process has lent so many cores by calls (steelyard/cores.h). `used`: core ns of cores that it had
  /// acquired.
  void hold_by_call(int lent, std::int64_t used, std::int64_t now);

  /// The cell of a thread in the present region. nullptr for thread IDs that region_begin() did not announce.
  ThreadCell* cell(int thread) { return thread >= 0 && thread < cells_size_ ? &cells_[thread] : nullptr; }
  int cells() const { return cells_size_; }
  /// Time that a thread has computed in the present region, which ends at `now` (ns). 0: the thread has not begun.
  std::int64_t busy(int thread, std::int64_t now) const;
  /// When a thread has begun in the present region (ns). 0: it has not begun.
  std::int64_t begun(int thread) const { return cells_[thread].begin.load(std::memory_order_relaxed); }
  /// Changes with every region: identifies a delayed event, when a worker wakes up in the next region.
  const std::atomic<std::uint64_t>& region() const { return region_; }
  /// Teams beside the primary thread's outermost one. From any thread.
  OtherTeams& others() { return others_; }

  static void thread_begin(ThreadCell& cell, std::int64_t now);
  static void barrier_begin(ThreadCell& cell, std::int64_t now);
  static void barrier_end(ThreadCell& cell, std::int64_t now);
  static void thread_end(ThreadCell& cell, std::int64_t now);
  /// The thread executes an explicit task. True if it is in a wait, which barrier_end() is to interrupt.
  static bool task_begin(ThreadCell& cell);
  /// The thread has waited for an accelerator.
  static void gpu_waited(ThreadCell& cell, std::int64_t length);
  /// The thread was in a blocking MPI call.
  static void was_in_mpi(ThreadCell& cell, std::int64_t length);
  /// The primary thread has ended a blocking MPI call in a region.
  void count_mpi_call() { ++totals_.mpi_calls; }

  /// Around a phase. From hold() to release(), ticks count `together` ns, in which the phase runs (-1: all of the
  /// time), as computing alone in each process of the node, and the rest as waiting: all processes take equally long,
  /// whatever their thread counts.
  void hold(std::int64_t now);
  void release(std::int64_t now, std::int64_t together);

  /// Up to the last event.
  const Totals& totals() const { return totals_; }
  /// Up to now, the stretch that is under way included.
  Totals totals_at(std::int64_t now) const;
  /// The members of a Tick except `threads`. Called at each collective, so it does not copy the totals.
  Tick tick_at(std::int64_t now) const;
  std::int64_t last_region_wall() const { return last_region_wall_; }
  /// Of the last region whose threads were measured.
  const TeamTime& last_team_time() const { return last_team_time_; }

 private:
  enum class State { off, alone, region, mpi, gpu };
  Tick uncorrected_tick_at(std::int64_t now) const;
  void close_stretch(std::int64_t now, State next);
  void close_region(std::int64_t now, int team, const TeamCores& cores);
  /// Removes the thread time of threads without a core of their own from what the present region has added.
  /// @param before the totals before this region
  /// @return ns that were removed: `without`, or less if the region added less
  std::int64_t remove_time_without_core(const Totals& before, std::int64_t without);
  OtherTeams::Reading take_idle(Totals& totals, std::int64_t now, std::int64_t idle_in_region) const;
  /// The stretch since `since_`, of this length.
  void add_stretch(Totals& totals, std::int64_t length) const;
  void add_by_call(Totals& totals, std::int64_t now) const;

  Totals totals_;
  State state_ = State::off;
  std::int64_t since_ = 0;
  std::int64_t start_ = 0;
  std::int64_t last_region_wall_ = 0;
  TeamTime last_team_time_;
  struct Inactive {
    std::int64_t wall = 0, useful = 0;
    /// What of it fits into a stretch of this length.
    Inactive within(std::int64_t length) const {
      const std::int64_t most = std::max<std::int64_t>(0, std::min(wall, length));
      return {most, std::min(useful, most)};
    }
  };
  Inactive inactive_;  // regions since the present stretch began
  int owned_ = 1;
  int lent_by_call_ = 0;             // cores
  std::int64_t by_call_since_ = 0;   // ns: totals_ has their time until then
  bool waits_ = false;               // between begin_wait() and end_wait()
  std::int64_t quiesced_since_ = 0;  // 0: is not
  bool held_ = false;                // between hold() and release()
  Tick at_hold_;                     // when that began
  Tick correction_;                  // of ticks, by all that was held so far
  std::unique_ptr<ThreadCell[]> cells_;
  int cells_size_ = 0;
  std::atomic<std::uint64_t> region_{0};
  OtherTeams others_;
  OtherTeams::Reading others_then_;  // at since_
};

inline Tick Activity::tick_at(std::int64_t now) const {
  if (held_) {
    Tick tick = at_hold_;
    tick.serial += now - tick.time;
    tick.time = now;
    return tick;
  }
  Tick tick = uncorrected_tick_at(now);
  tick.region_useful += correction_.region_useful;
  tick.region_wall += correction_.region_wall;
  tick.serial += correction_.serial;
  tick.mpi += correction_.mpi;
  return tick;
}

inline Tick Activity::uncorrected_tick_at(std::int64_t now) const {
  const std::int64_t length = now - since_;
  // More threads shorten a wait for an accelerator as little as they shorten what the primary computes alone.
  const bool serial = state_ == State::alone || state_ == State::gpu;
  const Inactive inactive = state_ == State::alone ? inactive_.within(length) : Inactive{};
  return {now, totals_.region_useful + inactive.useful, totals_.region_wall + inactive.wall,
          totals_.serial + totals_.gpu + (serial ? length : 0) - inactive.wall,
          totals_.mpi + (state_ == State::mpi ? length : 0)};
}

inline void Activity::thread_begin(ThreadCell& cell, std::int64_t now) {
  cell.open.store(0, std::memory_order_relaxed);
  cell.waited.store(0, std::memory_order_relaxed);
  cell.end.store(0, std::memory_order_relaxed);
  cell.gpu.store(0, std::memory_order_relaxed);
  cell.mpi.store(0, std::memory_order_relaxed);
  cell.forked.store(0, std::memory_order_relaxed);
  cell.gpu_waits.store(0, std::memory_order_relaxed);
  cell.tasks.store(0, std::memory_order_relaxed);
  cell.begin.store(now, std::memory_order_relaxed);
}

inline void Activity::barrier_begin(ThreadCell& cell, std::int64_t now) {
  cell.open.store(now, std::memory_order_relaxed);
}

inline void Activity::barrier_end(ThreadCell& cell, std::int64_t now) {
  const std::int64_t open = cell.open.load(std::memory_order_relaxed);
  if (open == 0) return;
  cell.waited.store(cell.waited.load(std::memory_order_relaxed) + now - open, std::memory_order_relaxed);
  cell.open.store(0, std::memory_order_relaxed);
}

inline void Activity::thread_end(ThreadCell& cell, std::int64_t now) { cell.end.store(now, std::memory_order_relaxed); }

inline bool Activity::task_begin(ThreadCell& cell) {
  cell.tasks.store(cell.tasks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return cell.open.load(std::memory_order_relaxed) != 0;
}

inline void Activity::gpu_waited(ThreadCell& cell, std::int64_t length) {
  cell.gpu.store(cell.gpu.load(std::memory_order_relaxed) + length, std::memory_order_relaxed);
  cell.gpu_waits.store(cell.gpu_waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

inline void Activity::was_in_mpi(ThreadCell& cell, std::int64_t length) {
  cell.mpi.store(cell.mpi.load(std::memory_order_relaxed) + length, std::memory_order_relaxed);
}

}  // namespace steelyard::observe
