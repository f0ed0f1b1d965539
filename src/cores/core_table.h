// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "base/atomic.h"
#include "node/segment.h"

namespace steelyard::cores {

/// What a process that waits says of its wait.
struct Wait {
  static constexpr int kUnknown = -1;
  int source = kUnknown;   ///< the process of this node without which it will not go on
  std::int64_t until = 0;  ///< ns: it is expected to last until then
};

/// On what terms a process borrows.
struct Terms {
  std::int64_t lent_after = 0;  ///< ns: only what was lent after this
  std::int64_t until = 0;       ///< ns: and only from those who wait until then, or for the borrower itself
};

/// The owner and the user of each core, in the node's shared memory. The owner is the process that the plan gave the
/// core to; the user is the process that runs on it now. Each change is one compare-and-swap: there is no lock, and no
/// process waits for another.
///
///           take_home               lend             borrow, hand_to
///   free  ------------->  owner's  ----->  lent  ------------------>  borrower's
///    ^                      |  ^            | ^                            |
///    |  give_up (plan)      |  '------------' '----------------------------'
///    '----------------------'    take_home      lend, give_up (region end, after the owner has asked)
///
/// Invariants, which core_table_test.cpp asserts in all interleavings of small programs:
///   1. A core has at most one user. It gets another one only after its user has ended its use, by lend(), give_up() or
///      hand_to().
///   2. A core that was given up is not borrowed: only its owner takes it, or its former owner.
///   3. A core that its owner has asked for in vain (take_home() returned false) and that another process still uses is
///      marked as wanted, until the owner has it. Its user gives it up at the end of its use, instead of lending it.
///   4. While no operation is under way, lent_idle() is the number of cores that are lent.
///   5. No operation waits for another process, and each core can be taken by its owner once all others have ended
///      their use.
/// Not an invariant: the user at the time of take_home() is asked to return the core (asked_back()). If the core passes
/// to the next borrower in that moment, that borrower is not asked, and keeps the core to the end of its use.
class CoreTable {
 public:
  static std::size_t footprint(int cores, int processes);
  CoreTable(node::Segment& segment, int cores, int processes, int me);

  int cores() const { return cores_; }

  // --- by the node leader ---
  /// The first homes; all processes use theirs at once. Before anybody else looks.
  void settle(const std::vector<int>& home);
  /// New homes. Users keep their cores until their next region boundary.
  void rehome(const std::vector<int>& home);
  std::vector<int> homes() const;

  // --- by every process, from its primary thread ---
  /// Changes with every rehome().
  std::uint32_t generation() const { return header_->generation.load(std::memory_order_acquire); }
  /// Cores that are lent and not in use.
  int lent_idle() const { return header_->lent_idle.load(std::memory_order_relaxed); }
  /// True when the home of a borrowed core wants it back. Cleared by clear_asked_back().
  bool asked_back() const { return asked_[me_].load(std::memory_order_relaxed) != 0; }
  void clear_asked_back() { asked_[me_].store(0, std::memory_order_relaxed); }

  bool is_home(int core) const { return core_[core].home.load(std::memory_order_relaxed) == me_; }
  bool is_wanted(int core) const { return core_[core].wanted.load(std::memory_order_relaxed) != 0; }
  /// Takes a core that is home here, and free or lent. Otherwise asks its user to give it back and returns false.
  bool take_home(int core);
  /// Takes a core whose home is no longer here, where nobody uses it and its new home has not asked for it.
  bool take_back(int core);
  /// Takes a core of another process that is lent, as the terms want it.
  bool borrow(int core, const Terms& terms);
  /// Another process may borrow it on these terms.
  bool may_borrow(int process, int core, std::int64_t until) const {
    return is_lent(core) && home_waits_for(process, core, until);
  }
  /// A core in use here is that process's to use from now on, which finds it by uses().
  void hand_to(int process, int core, std::int64_t now);
  bool uses(int core) const { return core_[core].user.load() == me_; }
  bool is_in_use(int core) const { return core_[core].user.load(std::memory_order_relaxed) >= 0; }
  bool is_lent(int core) const { return core_[core].user.load(std::memory_order_relaxed) == kLent; }
  /// Nobody uses it, and it may be borrowed on these terms.
  bool is_to_be_had(int core, const Terms& terms) const;
  /// When it was last lent, or handed to another (ns).
  std::int64_t lent_since(int core) const { return core_[core].lent_since.load(std::memory_order_relaxed); }
  /// The home of this core waits at least until then (ns): it waits for this process, or for one that waits for it, and
  /// so on; or it is expected to. One that waits for somebody who computes is not: nobody gains while he is hurried.
  bool home_waits_until(int core, std::int64_t until) const { return home_waits_for(me_, core, until); }
  /// This process begins a wait: its cores may be borrowed for as long.
  void begin_wait(const Wait& wait);
  /// It waits longer than it has thought. Nothing where the wait is over, for this process or by recall().
  void expect_wait(std::int64_t until);
  void end_wait() { waits_until_[me_].store(0); }
  /// What `process` waits for is there: it will wake up and want its cores, so nobody is to borrow them any more.
  void recall(int process) {
    if (waits_until_[process].load() != 0) waits_until_[process].store(0);
  }
  /// Ends this process's use: for anybody (home or guest) to take while its home waits in MPI ...
  void lend(int core, std::int64_t now);
  /// ... or for its home alone.
  void give_up(int core);

 private:
  bool home_waits_for(std::int32_t borrower, int core, std::int64_t until) const;

  static constexpr std::int32_t kFree = -1;
  static constexpr std::int32_t kLent = -2;
  struct Header {
    base::Atomic<std::uint32_t> generation;
    base::Atomic<std::int32_t> lent_idle;
  };
  struct Core {
    base::Atomic<std::int32_t> home;
    base::Atomic<std::int32_t> user;  // process, kFree or kLent
    base::Atomic<std::int32_t> wanted;
    base::Atomic<std::int64_t> lent_since;  // ns
  };

  Header* header_;
  Core* core_;
  base::Atomic<std::int32_t>* asked_;        // by process: somebody wants a core back from it
  base::Atomic<std::int32_t>* waits_for_;    // by process: another one, or kUnknown
  base::Atomic<std::int64_t>* waits_until_;  // ns, by process: it waits, and its cores may be borrowed; 0: it does not
  int cores_;
  int processes_;
  int me_;
};

}  // namespace steelyard::cores
