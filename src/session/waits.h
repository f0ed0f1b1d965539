// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>

#include "observe/sites.h"
#include "session/communicators.h"
#include "wait/back_off.h"

// Blocking MPI calls: they are measured, and leave the core to ranks that compute. Waits outside of MPI: they are
// measured. Waits for accelerators: accelerator.h.
namespace steelyard::session {

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

/// Brackets one blocking MPI call of the primary thread. `site` is the return address in the program.
class BlockingCall {
 public:
  explicit BlockingCall(std::uint64_t site);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  /// Announces this rank at its next collective on the communicator. Then waits, lending its cores, while a process of
  /// this node on which the collective depends has not arrived, and a process of this node computes. Returns at once if
  /// waits at this site were short lately. Records which rank came last.
  /// @param root rank in the communicator, for Dependence::root
  /// @return true if the collective has ended: a barrier whose members are all on this node and have waited here for
  /// the last of them. No member calls the MPI library for it then.
  bool arrive(CommunicatorOnNode* communicator, Dependence dependence, int root);
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

/// Lets the MPI library advance its messages, for a thread that waits outside of it. From a thread that may call MPI.
void progress();

/// The program has made, and freed, a window for one-sided accesses. While it has one, others may need this process's
/// MPI library to advance them at any time: blocking calls poll throughout, without sleeping or lending. From any
/// thread.
void window_made();
void window_freed();

/// The calling thread waits for other ranks and is in no MPI call: a task pool has nothing for it, or it sleeps in a
/// phase while others work (`quiesced`).
void wait_begins(bool quiesced);
void wait_ends();

// What src/session itself needs of waits.

/// A region shorter than this gains nothing by one more thread that must be woken and bound (ns).
inline constexpr float kWorthBorrowing = wait::kAtWork;

/// In shorter waits no core is lent: a sleep and a wake-up take as long, each about the time that is spun before (ns).
inline constexpr float kShortWait = 2 * wait::kMessage.spin;

/// What is known of the waits of this process in blocking MPI calls, and for accelerators.
struct Waits {
  observe::Sites sites;
  std::map<int, double> waited_for;  ///< s, by world rank
  std::int64_t last_end = 0;         ///< of a blocking call, ns
};

/// True once the program has had a window for one-sided accesses.
bool windows_seen();

}  // namespace steelyard::session
