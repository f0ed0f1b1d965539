// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "collectives/account.h"
#include "collectives/board.h"
#include "collectives/broadcasting.h"
#include "node/arrivals.h"
#include "node/bootstrap.h"
#include "observe/record.h"
#include "observe/sites.h"

// The one Session of a process: node, observe and the capabilities that are switched on. `intercept` and the API
// translate foreign calls into the calls below and do nothing else. All are cheap no-ops before start() and after
// finish().
namespace steelyard::session {

/// After MPI_Init returned, by the thread that called it. Collective over the world. Creates the Session, and
/// prints the header line.
void start(std::unique_ptr<node::Bootstrap> bootstrap, const char* language);
/// Before MPI_Finalize is called. Collective over the world. Writes the run record and prints the summary.
void finish();
/// From MPI_Abort, before it is passed on.
void aborting(int code);

/// True if this thread's blocking MPI calls are to be measured, and may leave the core: the primary thread,
/// outside of parallel regions, between start() and finish(). If false, the caller goes straight to the MPI library.
bool measures_this_call();

/// Brackets one blocking MPI call that the MPI library handles. In a parallel region, its time counts as time in MPI,
/// whichever thread calls. Elsewhere it has no effect.
class RegionCall {
 public:
  RegionCall();
  ~RegionCall();
  RegionCall(const RegionCall&) = delete;
  RegionCall& operator=(const RegionCall&) = delete;

 private:
  std::int64_t begin_ = 0;  ///< ns; 0: not measured
};

/// The members that must have arrived before a collective can complete at this rank, by MPI's own definition of the
/// data flow. Waiting for them in shared memory before calling the MPI library adds no synchronisation, and leaves the
/// library's algorithm, and with it the bits of every reduction, as they are.
enum class Dependence {
  all,      ///< allreduce, allgather, alltoall, reduce_scatter; the root of reduce and gather
  barrier,  ///< all, and no data are exchanged
  root,     ///< bcast and scatter, at the others
  none      ///< the root of bcast and scatter, the others of reduce and gather; scans
};

/// A communicator as the node sees it: the key that all its local members agree on, and their node ranks.
using CommunicatorOnNode = node::Arrivals::Group;

/// Brackets one blocking MPI call of the primary thread. `site` is the return address in the program.
class BlockingCall {
 public:
  explicit BlockingCall(std::uint64_t site);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  /// To be called between two tests of a request that was not complete. Spins at first (for as long as short waits at
  /// this site lately took), then lends this process's cores. While another process uses one of them it sleeps, with
  /// growing steps of at most 50 us; otherwise it yields. Returns true if it has slept or yielded.
  bool pause();
  /// The critical rank of this call, in MPI_COMM_WORLD: the one whose message or arrival it needs. -1 if it is not
  /// known.
  void waited_for(int world_rank);
  /// Ends a step: this call is a collective over all ranks of MPI_COMM_WORLD.
  void is_step_mark();
  /// When it began, ns.
  std::int64_t began() const { return begin_; }
  /// When it ended, ns: the time of the first call of this function.
  std::int64_t ended();

 private:
  friend bool arrive(BlockingCall&, CommunicatorOnNode*, Dependence, int);
  /// @param crowded there are more threads than cores: long waits sleep, those of a barrier at once
  void await_arrivals(bool crowded, bool barrier);
  void name_critical_rank();
  int source() const;
  std::int64_t expected_end(std::int64_t now) const;
  void lend(std::int64_t now);
  std::int64_t core_used_for(std::int64_t now);
  void come_back();

  std::uint64_t site_;
  observe::Site* history_ = nullptr;
  std::int64_t begin_;
  std::int64_t end_ = 0;
  std::int64_t spin_until_ = 0;
  std::int64_t lent_since_ = 0;
  std::int64_t core_used_since_ = 0;
  int waited_for_ = -1;
  bool came_last_ = false;
  std::int64_t usual_end_ = 0;  ///< expected end, by recent waits at this site; 0: unknown
  bool short_ = false;          ///< recent waits at this site were short
  bool lent_ = false;
  bool step_mark_ = false;
  bool needs_all_ = false;                  ///< it completes only when all members have arrived
  bool unsure_ = false;                     ///< waited too long: the group's members may not all be counted
  int feeder_ = -1;                         ///< node rank of the root whose data it needs; -1: none
  node::Arrivals::Group* group_ = nullptr;  ///< where it is a collective that is followed
};

/// First collective on a communicator, by all its members. `members`: world ranks in order. Returns nullptr where it
/// cannot be followed (table full, one local member, several threads): then arrive() must not be called for it.
CommunicatorOnNode* attach_communicator(const int* members, int count);
void detach_communicator(CommunicatorOnNode* communicator);
/// Its broadcast buffer, if it has one: all members get it, or none does. Not after detach_communicator().
std::unique_ptr<collectives::Board> open_board(const CommunicatorOnNode* communicator);
/// How many of these, by their world ranks, are on this node.
int local_members(const int* members, int count);

/// How broadcasts and scatters are delivered in this run.
collectives::Broadcasting broadcasting();
/// What became of them. Valid until finish().
collectives::Account& collectives_account();

/// Announces this rank at its next collective on the communicator. Then waits, lending its cores, while a process of
/// this node on which the collective depends has not arrived, and a process of this node computes. Returns at once if
/// waits at this site were short lately. Records which rank came last.
/// @param root rank in the communicator, for Dependence::root
/// @return true if the collective has ended: a barrier whose members are all on this node and have waited here for the
/// last one. No member calls the MPI library for it then.
bool arrive(BlockingCall& call, CommunicatorOnNode* communicator, Dependence dependence, int root);

/// Announces this rank at its next collective without waiting, for a call that is not measured: the others must not
/// wait for it. From any thread.
void announce(CommunicatorOnNode* communicator);

/// Lets the MPI library advance its messages, for a thread that waits outside of it. From a thread that may call MPI.
void progress();

/// The program has made, and freed, a window for one-sided accesses. While it has one, others may need this process's
/// MPI library to advance them at any time: blocking calls poll throughout, without sleeping or lending. From any
/// thread.
void window_made();
void window_freed();

/// steelyard_step(): the program says that a step has ended.
void step();

/// steelyard_region_begin() and steelyard_region_end(), where measures_this_call(). The first failure of the process is
/// printed, too.
base::Status region_begins(std::string_view name);
base::Status region_ends(std::string_view name);

/// steelyard_get_efficiencies(), where measures_this_call(): of the ranks of this node, as last published.
observe::RunningMetrics running_metrics();
/// steelyard_pause() and steelyard_resume(), where measures_this_call().
base::Status pause();
base::Status resume();

/// The program is about to create a context of phases (steelyard/phases.h) for so many processes of this node. If these
/// are not all of it, phases may use cores that were moved to others: this process keeps its cores then.
void phases_begin(int processes);
/// While this process is in a phase, or has pushed a binding, its cores and its thread count are left to the program:
/// borrowed cores are returned before, and none is lent. `phases`: ns of it in which phases ran; -1: there was none.
void hold_begins();
void hold_ends(std::int64_t phases);
/// This process, the first of its context, has left a phase: how this has run until now. Rank and node are not set.
void phase_left(observe::PhaseRecord phase);
/// The calling thread waits for other ranks and is in no MPI call: a task pool has nothing for it, or it sleeps in a
/// phase while others work (`quiesced`).
void wait_begins(bool quiesced);
void wait_ends();
/// A task pool (steelyard/tasks.h) is about to run with so many threads at most. If it runs in a region, that region
/// gets no more threads from the next time on. If the pool would lose more by a move than other regions gain, this
/// process gets no more cores.
void pool_runs(int threads);
/// The present region has more threads than the program asked for. From any thread of it.
bool team_is_larger();
/// steelyard/cores.h: by the primary thread, outside of parallel regions. From the first of these calls on, except
/// why_cores_stay(), no plan changes this process's cores.
///
/// Before start(): this process runs so many threads. 0: one for each core of its affinity mask. Later, it fails, and
/// warns: programs seldom look at the status.
base::Status declare_cores(int cores);
/// Empty if this process can lend and acquire cores now; otherwise why not: then the others do nothing and return 0.
std::string why_cores_stay();
/// The CPUs that this process uses, its own first; if no core can move, those of the calling thread's affinity mask.
std::vector<int> cpus_in_use();
/// Takes own cores that have come free. Returns the CPUs in use, less those that other processes have asked for.
std::vector<int> poll_cores();
/// The program uses no other CPUs than these any more: the cores that others have asked for can be returned.
void return_wanted_cores(const std::vector<int>& kept);
/// Each returns a number of cores: lent, still missing, acquired.
int lend_cores(int most);
int reclaim_cores();
int acquire_cores(int most);
void release_cores();

/// A task pool (steelyard/tasks.h) is freed: what it did at this rank. Nothing if this process is not measured.
void tasks_ended(const observe::TasksRecord& pool);
/// Empty if this process is measured; otherwise why not.
std::string inactive_reason();

}  // namespace steelyard::session
