// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cores/borrowing.h"
#include "cores/core_table.h"
#include "cores/holding.h"
#include "cores/late_join.h"
#include "cores/owners.h"
#include "cores/policy.h"
#include "node/processes.h"
#include "node/topology.h"
#include "observe/activity.h"
#include "observe/live.h"
#include "observe/record.h"
#include "observe/ticks.h"

namespace steelyard::cores {

class Planner;

struct Options {
  bool lend = true;                          ///< lend while a rank waits in MPI
  node::Level level = node::Level::package;  ///< of the domains: no process spans several
  PolicyOptions policy;
};

/// A region that is about to begin.
struct RegionAhead {
  std::uint64_t key = 0;                       ///< equal for executions at the same place of a step
  std::int64_t begin = 0;                      ///< ns
  int most = std::numeric_limits<int>::max();  ///< threads that it can use at most
  bool worth_borrowing = false;                ///< long enough to gain by more cores, and its thread count may change
  double own_length = 0;                       ///< ns: expected on the cores of its process
  Terms terms;                                 ///< see Cores::lend()
};

/// The capability `cores` in one process: moves cores between the processes of a node, by plan at step ends and by
/// lending while a rank waits. Paper: SABO (IPDRM 2022); lending after LeWI (Garcia et al., ICPP 2009).
/// All but bind_thread() are for the primary thread.
class Cores {
 public:
  static std::size_t footprint(int cores, int processes);
  /// `processes` are the node's.
  Cores(node::Segment& segment, node::Process* processes, int count, int me, const node::Topology& topology,
        observe::Activity& activity, Options options);
  ~Cores();
  /// `owners` are the same at all processes of the node. The leader settles them before another process uses the table.
  void settle_owners(Owners owners, bool leader);
  /// By each process, after the leader's settle_owners().
  void begin();

  // --- around regions and waits ---
  /// Before a region. Returns its thread count; 0 if the count must not change.
  int threads_for_region(const RegionAhead& region);
  /// True if threads_for_region() would change nothing, for a region that is not worth borrowing. Such a region needs
  /// no after_region() if `threads_at_rest()` threads run it instead.
  bool at_rest() const;
  /// @param most threads that the region can use
  int threads_at_rest(int most) const;
  /// After the region, before `activity` ends it.
  observe::TeamCores after_region(std::int64_t now, int team, const observe::Activity& activity);
  /// Threads of a team that have no core of their own. Unbound threads may also run on cores without an owner.
  int threads_without_core(int team) const;
  /// Before a blocking MPI call, which may wake other processes that then use their cores.
  void before_call(std::int64_t now) {
    if (!holding_) return;
    if (late_join_.changed()) find_given();
    if (holding_->holds_foreign_cores()) holding_->leave_foreign_cores(now);
    if (must_leave()) leave_withdrawn();
    note_by_call(now);
  }
  /// True if cores were withdrawn from the job, and this process may still use some: before_call() leaves them.
  bool must_leave() const { return withdrawals_ != table_.withdrawals(); }
  /// At the beginning of a wait. If the owner of a borrowed core wakes, it has to do without the core until the
  /// borrower's region ends. So a rank may borrow the core only if it is on the critical path, or if its region ends
  /// before the wait does. A core that was lent before the borrower's own last MPI call may belong to a rank that this
  /// call wakes, so it is not borrowed either.
  /// `keeps_first`: does not lend the first core, on which the primary thread polls.
  void lend(std::int64_t now, const Wait& wait, bool keeps_first = false);
  /// The wait lasts at least until `until` (ns).
  void expect_wait(std::int64_t now, std::int64_t until);
  /// The wait is over.
  void come_back();
  /// True during a wait if another process uses a core of this process.
  bool others_use() const { return holding_ && holding_->others_use(); }
  /// After a wait, before this process polls: the kernel may have woken it on the core of another rank.
  void return_to_own_core();
  /// Another process is about to wake: its cores must not be borrowed any more.
  void recall(int process) { table_.recall(process); }
  // --- as the program says (steelyard/cores.h), outside of regions and of waits; only if no immovable_reason() ---
  /// The CPUs of the cores in use, its own first.
  std::vector<int> cpus() const { return cpus(holding_->cores()); }
  /// Offers up to `most` of its cores to other processes, and returns how many.
  int offer(int most, std::int64_t now);
  /// Takes the offered cores back. Returns how many of them other processes still use.
  int reclaim(std::int64_t now);
  /// Borrows up to `most` cores until the next call of before_call() or the next region, and returns how many.
  int acquire(int most, const Terms& terms);
  void release(std::int64_t now);
  /// Takes own cores that have come free. Returns the CPUs of cores in use that no owner has asked for.
  std::vector<int> poll();
  /// Returns the cores that others have asked for, except those whose CPUs are `kept`.
  void keep_only(const std::vector<int>& kept, std::int64_t now);

  /// Why no core can be moved or lent here; empty if cores can be.
  const std::string& immovable_reason() const { return immovable_reason_; }
  bool lends() const { return options_.lend && changes_threads() && count_ > 1; }
  /// True if slots are lent instead of cores (Owners::slots): cores cannot move, threads are not bound, and a
  /// waiting thread leaves its core to others by a yield.
  bool slots() const { return options_.lend && !owners_.slots.empty(); }
  /// True if processes share cores, and had more threads than these at the start.
  bool oversubscribed() const { return owners_.masks_overlap && !owners_.oversubscribed.empty(); }
  /// True if regions may get another thread count than the program's.
  bool changes_threads() const { return immovable_reason_.empty() || slots(); }
  /// Cores that this process owns; if none can be moved, its threads at start.
  int owned() const;
  int borrowed() const { return holding_ ? holding_->borrowed() : 0; }
  /// Owned cores that a wait lends: all but those that the program has lent already. 0 with slots: there are more slots
  /// than cores, so only those that others use count.
  int lent_in_waits() const { return slots() ? 0 : owned() - (holding_ ? holding_->offered() : 0); }

  /// Called by each thread when it begins a region: binds it to its core, if it is not bound there yet.
  void bind_thread(int thread);
  /// True if this process has stopped borrowing at times, because borrowed cores were busy.
  bool paused_borrowing() const { return borrowing_.pauses() > 0; }
  /// Binds the primary thread to all CPUs that the launcher gave the process: at the end and in a child of fork().
  void unbind();
  /// The program has bound threads meanwhile: each is bound to its core again at its next region, if it was before.
  void rebind() { rebind_ = rebind_ || binding_.load(std::memory_order_relaxed) != 0; }

  // --- at the leader ---
  /// At the ends of steps, and after waits: if there are enough steps for a window, plans with it.
  /// `start`: the clock when the run began.
  void consider(const observe::TickBoard& ticks, observe::TickSource source, int ticks_per_step, std::int64_t start);
  /// From now on, the processes of the node share these CPUs alone, as far as the job has them. Each leaves and takes
  /// cores at its next region or blocking call.
  /// @param user the name of the user who asked, for the record
  /// @return why not; empty if done
  std::string resize(const node::CpuSet& cpus, double time, const std::string& user);
  /// True if resize() can change the cores.
  bool resizable() const { return immovable_reason_.empty() || alone_; }
  /// Once, before show_owners(): the job's CPUs, as if none had an owner.
  void show_siblings(observe::LiveBoard& board) const;
  /// Owners of CPUs, and how many withdrawn ones are still in use.
  void show_owners(observe::LiveBoard& board) const;
  /// Decisions so far, the newest last.
  const std::vector<observe::DecisionRecord>& decisions() const;
  /// By process of the node: for how long this process has used its cores, ns.
  const std::vector<std::int64_t>& borrowed_from() const { return borrowed_from_; }
  /// Adds its part to the record.
  void report(observe::NodeRecord& node, std::vector<observe::DecisionRecord>& decisions) const;

 private:
  NodeShape shape() const;
  bool has_openmp() const {
    return std::any_of(processes_, processes_ + count_, [](const node::Process& process) {
      return process.no_openmp.load(std::memory_order_relaxed) == 0;
    });
  }
  int process_fixed_after_move() const;
  int threads_on(int cores, int most) const;
  void count_cores_without_owner();
  int late_join_threads(int held, int most);
  std::vector<int> find_given();
  void give_to_late_join_threads(std::int64_t now);
  std::vector<int> cpus(const std::vector<int>& cores) const;
  void note_by_call(std::int64_t now) {
    if (by_call_) note_by_call(now, {});
  }
  void note_by_call(std::int64_t now, std::span<const int> acquired);
  std::int64_t add_borrowed(std::span<const int> cores, std::int64_t length);
  std::span<const int> borrowed_cores() const;
  std::span<const int> still_acquired() const;
  bool threads_are_placed() const;
  int surplus_slots() const { return static_cast<int>(owners_.slots.size()) - owners_.cores; }
  /// Cores that other processes have lent, that no process uses, and whose owners still wait; slots by the time since
  /// which they are lent.
  std::vector<int> idle_cores(std::int64_t now) const;
  /// Of these cores, those that came free while the present region ran, before the last `1 / left` of it.
  int came_in_time(const std::vector<int>& cores, std::int64_t now, std::int64_t left) const;
  void change_owners(std::vector<int> owner);
  node::CpuSet owned_cpus(const std::vector<int>& owner) const;
  void leave_withdrawn();
  void choose_measurement();
  // The parts of after_region(). `own`: cores held that are not borrowed.
  int late_joined(int team) const;
  observe::TeamCores time_on_held_cores(std::int64_t now, int team, int own);
  std::vector<int> cores_given_meanwhile(std::int64_t now);
  void add_time_on_given_cores(std::int64_t now, int team, const std::vector<int>& given, observe::TeamCores& cores);
  void learn_from_late_join(std::int64_t now, const std::vector<int>& given);
  void learn_from_borrowing(std::int64_t now, int borrowed, const observe::Activity& activity);
  void learn_how_threads_begin(std::int64_t now, int team, int own, const observe::Activity& activity);
  void bind_to_its_cpu(int thread);

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
  observe::Activity& activity_;
  std::vector<int> domain_;  // by core
  Owners owners_;
  std::vector<bool> usable_at_start_;  // by core; owners_.usable: after the last resize()
  Options options_;
  std::string immovable_reason_;
  bool alone_ = false;  // one process on the node, whose cores change by resize() only
  CoreTable table_;
  std::unique_ptr<Holding> holding_;
  LateJoin late_join_;
  LateJoinRegions late_join_regions_;
  Borrowing borrowing_;
  bool by_call_ = false;                     // the program has lent or acquired cores
  std::vector<int> acquired_;                // by calls, and held
  std::int64_t acquired_since_ = 0;          // ns
  std::int64_t borrowed_since_ = 0;          // ns: the present region has had its borrowed cores since then
  bool run_delays_known_ = false;            // the kernel has scheduler statistics
  bool comparable_ = false;                  // the present region tells whether borrowing is a gain
  RegionAhead region_;                       // the present one
  int threads_ = 0;                          // that it was given
  int had_ = 0;                              // cores held in the region before
  int late_join_count_ = 0;                  // of threads_: without a core at the begin
  bool rebind_ = false;                      // threads may not be bound to their CPUs any more
  bool bind_ = false;                        // from the first change on, threads are bound one to a core
  int without_owner_ = 0;                    // cores of the job, at generation_
  std::uint32_t generation_ = 0;             // of the table, when binding was last looked at
  std::uint32_t withdrawals_ = 0;            // of the table, when withdrawn cores were last left
  std::vector<std::int64_t> borrowed_from_;  // ns, by process
  std::unique_ptr<Planner> planner_;         // at the leader
  // Read by each thread of each region, and written rarely: on a cache line apart from what the primary thread writes.
  alignas(64) std::atomic<std::uint32_t> binding_{0};  // changes when threads must be bound anew
  std::vector<int> thread_cpus_;                       // os index by thread; written between regions
  std::atomic<int> measured_from_{kNone};              // threads from here on are on borrowed cores
  std::vector<Begin> begun_;                           // by those threads; resized between regions
};

}  // namespace steelyard::cores
