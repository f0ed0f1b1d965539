// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cores/borrowing.h"
#include "cores/core_table.h"
#include "cores/holding.h"
#include "cores/homes.h"
#include "cores/late_join.h"
#include "cores/policy.h"
#include "node/processes.h"
#include "node/topology.h"
#include "observe/activity.h"
#include "observe/record.h"
#include "observe/ticks.h"

namespace steelyard::cores {

class Planner;

struct Options {
  bool lend = true;                          ///< lend while a rank waits in MPI
  node::Level level = node::Level::package;  ///< no process spans one
  PolicyOptions policy;
};

/// A region that is about to begin.
struct RegionAhead {
  std::uint64_t key = 0;         ///< the same whenever it comes again at the same place of a step
  std::int64_t begin = 0;        ///< ns
  bool worth_borrowing = false;  ///< long enough to gain by more cores, and its thread count is ours to choose
  Terms terms;                   ///< see Cores::lend()
};

/// The capability `cores` in one process: moves cores between the processes of a node, by plan at phase ends and by
/// lending while a rank waits. Paper: SABO (IPDRM 2022); lending after LeWI (Garcia et al., ICPP 2009).
/// All but bind_thread() are for the primary thread.
class Cores {
 public:
  static std::size_t footprint(int cores, int processes);
  /// `processes` are the node's.
  Cores(node::Segment& segment, node::Process* processes, int count, int me, const node::Topology& topology,
        Options options);
  ~Cores();
  /// `homes` are the same at all processes of the node. The leader settles them before another process uses the table.
  void settle_homes(Homes homes, bool leader);
  /// After the leader has settled, everywhere.
  void begin();

  // --- around regions and waits ---
  /// Before a region: the threads to run it with; 0 where the count is not ours to choose.
  int threads_for_region(const RegionAhead& region);
  /// After the region, before `activity` ends it.
  observe::LateCores after_region(std::int64_t now, int team, const observe::Activity& activity);
  /// Before a blocking MPI call, by which others may wake up and want their cores.
  void before_call(std::int64_t now) {
    if (!holding_) return;
    if (late_join_.changed()) find_given();
    if (holding_->holds_what_is_not_home()) holding_->leave_what_is_not_home(now);
  }
  /// While it waits. Who wakes up and finds its cores borrowed does without them for the rest of a whole region: so
  /// only he borrows them who is waited for, or whose region will have ended by then. And a core lent before the
  /// borrower's own last call may be that of a rank which this very call wakes.
  void lend(std::int64_t now, const Wait& wait);
  /// The wait goes on for longer.
  void expect_wait(std::int64_t now, std::int64_t until);
  void come_back();
  /// After a wait, before it polls: the system may have woken it up on the core of a rank that computes, or polls.
  void go_home();
  /// Another process is about to wake up: its cores are no longer to be borrowed.
  void recall(int process) { table_.recall(process); }
  /// Why no core can be moved or lent here; empty where it can.
  const std::string& problem() const { return problem_; }
  bool lends() const { return options_.lend && problem_.empty() && count_ > 1; }
  /// Cores whose home is here; where none can be moved, the threads at start.
  int owned() const;
  int borrowed() const { return holding_ ? holding_->borrowed() : 0; }

  /// By each thread at its begin in a region: binds it to its core where it is not there yet.
  void bind_thread(int thread);
  /// True if this process has stopped borrowing at times, since borrowed cores were busy.
  bool paused_borrowing() const { return borrowing_.pauses() > 0; }
  /// The primary thread goes back to all that the launcher gave it, at the end and in a child of fork().
  void unbind();
  /// The program has bound threads meanwhile: each is bound to its core again at its next region, if it was before.
  void rebind() { rebind_ = rebind_ || binding_.load(std::memory_order_relaxed) != 0; }

  // --- at the leader ---
  /// At phase ends, and after waits: looks whether there are phases enough for a window, and acts on it.
  /// `start`: the clock when the run began.
  void consider(const observe::TickBoard& ticks, observe::TickSource source, int ticks_per_phase, std::int64_t start);
  /// So far, the newest last.
  const std::vector<observe::DecisionRecord>& decisions() const;
  /// What it has to say at the end.
  void report(observe::NodeRecord& node, std::vector<observe::DecisionRecord>& decisions) const;

 private:
  NodeShape shape() const;
  int fixed_away_from_home() const;
  int late_join_threads(int held, int most);
  std::vector<int> find_given();
  void give_to_late_join_threads(std::int64_t now);
  std::vector<int> held_cpus() const;
  bool seated() const;
  int came_to_late_join(std::int64_t now, const std::vector<int>& given) const;
  int came_free(std::int64_t now) const;
  std::vector<int> joined() const;
  void choose_measurement();
  void learn_from_borrowing(std::int64_t now, int borrowed, const observe::Activity& activity);
  void take_seat(int thread);

  /// A thread on a borrowed core, as it began its part of the present region.
  struct Begin {
    int thread_id = 0;            // in the system
    std::int64_t run_delay = -1;  // by node::run_delay()
  };
  static constexpr int kNone = std::numeric_limits<int>::max();

  node::Process* processes_;
  int count_;
  int me_;
  node::Topology topology_;
  std::vector<int> domain_;  // by core
  Homes homes_;
  Options options_;
  std::string problem_;
  CoreTable table_;
  std::unique_ptr<Holding> holding_;
  LateJoin late_join_;
  LateJoinRegions late_join_regions_;
  Borrowing borrowing_;
  bool run_delays_known_ = false;     // the kernel has scheduler statistics
  bool comparable_ = false;           // the present region tells whether borrowing is a gain
  RegionAhead region_;                // the present one
  int threads_ = 0;                   // it was to have
  int late_join_count_ = 0;           // of them began without a core
  bool rebind_ = false;               // threads may be elsewhere than on their seats
  bool bind_ = false;                 // from the first change on, threads are bound one to a core
  std::uint32_t generation_ = 0;      // of the table, when binding was last looked at
  std::unique_ptr<Planner> planner_;  // at the leader
  // Read by each thread of each region, and written rarely: on a cache line apart from what the primary thread writes.
  alignas(64) std::atomic<std::uint32_t> binding_{0};  // changes when threads must look where they belong
  std::vector<int> seats_;                             // os index by thread; written between regions
  std::atomic<int> measured_from_{kNone};              // this thread and those after it are on borrowed cores
  std::vector<Begin> begun_;                           // by those threads; resized between regions
};

/// Homes for a plan: every core by its process, keeping as many owners as can be. Domain -1 stands for any.
std::vector<int> seat(const std::vector<int>& home, const std::vector<bool>& usable, const std::vector<int>& domain,
                      const Plan& plan);

}  // namespace steelyard::cores
