// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "base/atomic.h"
#include "node/segment.h"

namespace steelyard::cores {

/// What a waiting process publishes about its wait.
struct Wait {
  static constexpr int kUnknown = -1;  // Encoding: no process
  int source = kUnknown;               ///< the process of this node that it waits for
  std::int64_t until = 0;              ///< ns: it is expected to last until then
};

/// Conditions under which a process borrows a core.
struct Terms {
  std::int64_t lent_after = 0;  ///< ns: only cores that were lent after this, or are offered
  std::int64_t until = 0;       ///< ns: only from owners that wait until then, or for the borrower
};

/// The owner and the user of each core, in the node's shared memory. The owner is the process that the plan gave the
/// core to; the user is the process that runs on it now. Each change is one compare-and-swap: there is no lock, and no
/// process waits for another.
///
///           take_own             lend, offer         borrow, hand_to
///   free  ------------->  owner's  ----->  lent  ------------------>  borrower's
///    ^                      |  ^            | ^                            |
///    |  give_up (plan)      |  '------------' '----------------------------'
///    '----------------------'    take_own       lend, give_up (region end, after the owner has asked)
///
/// Invariants, which core_table_test.cpp asserts in all interleavings of small programs:
///   1. A core has at most one user. It gets another one only after its user has ended its use, by lend(), give_up() or
///      hand_to().
///   2. A core that was given up is not borrowed: only its owner takes it, or its former owner.
///   3. A core that its owner has asked for in vain (take_own() returned false) and that another process still uses is
///      marked as wanted, until the owner has it. Its user gives it up at the end of its use, instead of lending it.
///   4. While no operation is under way, lent_idle() is the number of cores that are lent.
///   5. No operation waits for another process, and each core can be taken by its owner once all others have ended
///      their use.
///   6. A core that was withdrawn (kWithdrawn) gets no user any more: a user keeps it to the end of its use, and a
///      borrow() that was under way may still succeed.
///   7. While no operation is under way, a core that its owner uses or has asked for is not offered.
/// An offered core is lent by the program (steelyard/cores.h), which asks for it when it needs it. It may be borrowed
/// at any time, whether its owner waits or not, and remains offered when a borrower lends it again.
/// Not an invariant: the user at the time of take_own() is asked to return the core (asked_back()). If the core passes
/// to the next borrower in that moment, that borrower is not asked, and keeps the core to the end of its use.
class CoreTable {
 public:
  static std::size_t footprint(int cores, int processes);
  CoreTable(node::Segment& segment, int cores, int processes, int me);
  /// Reduces the number of cores. By each process, before settle().
  void shrink(int cores) { cores_ = cores; }

  /// Encoding: the owner of a core that was taken from the job, until a later change_owners().
  static constexpr std::int32_t kWithdrawn = -2;

  int cores() const { return cores_; }

  // --- by the node leader ---
  /// The first owners; each process uses its cores at once. Before any other process reads the table.
  void settle(const std::vector<int>& owners);
  /// New owners. Users keep their cores until their next region boundary.
  void change_owners(const std::vector<int>& owners);
  std::vector<int> owners() const;
  /// Withdrawn cores that some process still uses.
  int withdrawn_in_use() const;

  // --- by every process, from its primary thread ---
  /// Changes with every change_owners().
  std::uint32_t generation() const { return header_->generation.load(std::memory_order_acquire); }
  /// Changes with every change_owners() that withdraws cores.
  std::uint32_t withdrawals() const { return header_->withdrawals.load(std::memory_order_acquire); }
  bool is_withdrawn(int core) const { return core_[core].owner.load(std::memory_order_relaxed) == kWithdrawn; }
  /// Cores that are lent and not in use.
  int lent_idle() const { return header_->lent_idle.load(std::memory_order_relaxed); }
  /// True if the owner of a borrowed core has asked for it. Cleared by clear_asked_back().
  bool asked_back() const { return asked_[me_].load(std::memory_order_relaxed) != 0; }
  void clear_asked_back() { asked_[me_].store(0, std::memory_order_relaxed); }

  int owner(int core) const { return core_[core].owner.load(std::memory_order_relaxed); }
  bool is_own(int core) const { return core_[core].owner.load(std::memory_order_relaxed) == me_; }
  bool is_wanted(int core) const { return core_[core].wanted.load(std::memory_order_relaxed) != 0; }
  /// Takes a core that this process owns, if it is free or lent. Otherwise asks its user to return it and returns
  /// false. The core is not offered any more.
  bool take_own(int core);
  /// Takes a core that this process no longer owns, if it has no user and its new owner has not asked for it, unless it
  /// was withdrawn.
  bool take_back(int core);
  /// Takes a core that this process owns, if it is still lent. False if another process uses it: that process is not
  /// asked to return it.
  bool retake_lent(int core);
  /// Takes a core that another process has lent, if the terms allow it.
  bool borrow(int core, const Terms& terms);
  /// True if `process` may borrow the core for a region that ends at `until` (ns).
  bool may_borrow(int process, int core, std::int64_t until) const {
    return is_lent(core) && owner_waits_for(process, core, until);
  }
  /// Passes a core that this process uses to another process, which finds it by uses().
  void hand_to(int process, int core, std::int64_t now);
  bool uses(int core) const { return core_[core].user.load() == me_; }
  bool is_in_use(int core) const { return core_[core].user.load(std::memory_order_relaxed) >= 0; }
  bool is_used_by_another(int core) const {
    const std::int32_t user = core_[core].user.load(std::memory_order_relaxed);
    return user >= 0 && user != me_;
  }
  bool is_lent(int core) const { return core_[core].user.load(std::memory_order_relaxed) == kLent; }
  /// True if it is lent and this process may borrow it on these terms.
  bool can_be_borrowed(int core, const Terms& terms) const;
  /// When it was last lent, or passed to another process (ns).
  std::int64_t lent_since(int core) const { return core_[core].lent_since.load(std::memory_order_relaxed); }
  /// True if the owner of this core waits at least until then (ns): because it waits for this process, directly or
  /// through a chain of waits, or because its wait is expected to last so long. False if it waits for another process
  /// that computes. An owner that has offered the core needs it at no known time: true.
  bool owner_waits_until(int core, std::int64_t until) const { return owner_waits_for(me_, core, until); }
  /// This process begins a wait. Its cores may be borrowed until the wait ends.
  void begin_wait(const Wait& wait);
  /// The wait lasts longer than expected. No effect if it is over, by end_wait() or recall().
  void expect_wait(std::int64_t until);
  void end_wait() { waits_until_[me_].store(0); }
  /// The wait of `process` is over: it is about to wake and to use its cores, so they must not be borrowed any more.
  void recall(int process) {
    if (waits_until_[process].load() != 0) waits_until_[process].store(0);
  }
  /// Ends this process's use. Any process may borrow the core while its owner waits in MPI, unless it was withdrawn.
  void lend(int core, std::int64_t now);
  /// The same, but the core may be borrowed at any time.
  void offer(int core, std::int64_t now);
  bool is_offered(int core) const { return core_[core].offered.load() != 0; }
  /// Ends this process's use. The core is not borrowed.
  void give_up(int core);

 private:
  bool owner_waits_for(std::int32_t borrower, int core, std::int64_t until) const;

  static constexpr std::int32_t kFree = -1;  // Encoding: no user
  static constexpr std::int32_t kLent = -2;  // Encoding: no user, and the core may be borrowed
  struct Header {
    base::Atomic<std::uint32_t> generation;
    base::Atomic<std::uint32_t> withdrawals;
    base::Atomic<std::int32_t> lent_idle;
  };
  struct Core {
    base::Atomic<std::int32_t> owner;
    base::Atomic<std::int32_t> user;  // process, kFree or kLent
    base::Atomic<std::int32_t> wanted;
    base::Atomic<std::int32_t> offered;
    base::Atomic<std::int64_t> lent_since;  // ns
  };

  Header* header_;
  Core* core_;
  base::Atomic<std::int32_t>* asked_;        // by process: an owner wants a core back from it
  base::Atomic<std::int32_t>* waits_for_;    // by process: the process that it waits for, or Wait::kUnknown
  base::Atomic<std::int64_t>* waits_until_;  // ns, by process: it waits, and its cores may be borrowed; 0: it does not
  int cores_;
  int processes_;
  int me_;
};

}  // namespace steelyard::cores
