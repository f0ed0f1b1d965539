// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "cores/core_table.h"

namespace steelyard::cores {

/// The cores that this process uses, and the rules by which it takes and leaves them. Called only at region boundaries
/// and around blocking MPI calls, by the primary thread, so a team never loses a core during a region.
class Holding {
 public:
  /// @param domain of each core: cores of the same domain are borrowed first
  /// @param surplus by how much the slots (Owners::slots) outnumber the cores; 0 without slots. As many slots are not
  ///        borrowed, so that a borrower's threads find cores on which no other process computes.
  Holding(CoreTable& table, std::vector<int> domain, int surplus = 0);

  /// Before a region: leaves cores that the plan gave to other processes, takes those that this process owns, and
  /// returns borrowed cores whose owners wake before the region ends. If `may_borrow`, borrows up to `most` cores in
  /// all. Returns true if the set of cores has changed.
  bool settle(int most, bool may_borrow, const Terms& terms = {});
  /// Adds cores that other processes have passed to late-join threads of this process, and returns them.
  std::vector<int> find_given();
  /// After a region: returns the cores that their owners have asked for.
  void give_back_wanted();
  /// Before a blocking call: leaves all cores that this process does not own, so that a process that the call wakes
  /// finds its cores free.
  void leave_foreign_cores(std::int64_t now);
  /// Begins a wait: lends all cores, or all but the first if `keeps_first`.
  void lend_all(std::int64_t now, const Wait& wait, bool keeps_first = false);
  /// The wait lasts at least until then (ns).
  void expect_wait(std::int64_t until) { table_.expect_wait(until); }
  /// After a wait: takes the cores that this process owns.
  void come_back();
  /// True during a wait if another process uses a core of this process that the program has not offered.
  bool others_use() const {
    return std::ranges::any_of(owned_, [this](int c) { return table_.is_used_by_another(c) && !is_offered(c); });
  }

  // --- as the program says (steelyard/cores.h) ---
  /// Offers up to `most` more cores of its own to other processes, all but one at most, and returns how many.
  int offer(int most, std::int64_t now);
  /// Takes the cores back that it has offered. Returns how many others still use, and asks for them.
  int reclaim();
  /// Borrows up to `most` more cores, and returns how many.
  int acquire(int most, const Terms& terms);
  /// Returns all borrowed cores.
  void release(std::int64_t now);
  /// Takes cores of its own that have come free.
  void take_free_cores();
  /// Cores in use without those that their owners have asked for.
  std::vector<int> cores_without_wanted() const;
  /// Returns the cores that their owners have asked for and the program has `left`.
  void return_wanted(const std::function<bool(int core)>& left);

  /// Cores in use, its own first. Empty only if the process owns none. If all of its cores are borrowed, it shares the
  /// first one with the borrower.
  const std::vector<int>& cores() const { return cores_; }
  int borrowed() const { return static_cast<int>(borrowed_.size()); }
  int offered() const { return static_cast<int>(offered_.size()); }
  /// True if leave_foreign_cores() has anything to leave.
  bool holds_foreign_cores() const {
    return !borrowed_.empty() || !kept_.empty() || generation_ != table_.generation();
  }
  /// All cores that belong here are in use, and no other: settle() has nothing to do without borrowing.
  bool at_rest() const { return !lending_ && has_all_owned() && !holds_foreign_cores(); }
  /// True while the only core in use is one that a borrower still uses.
  bool shares() const { return shares_; }
  int owned_count() const { return static_cast<int>(owned_.size()); }

 private:
  void read_owned();
  void take_owned();
  void keep_former_cores();
  void leave(int core, std::int64_t now);
  void return_borrowed(std::int64_t now);
  void give_back_needed(const Terms& terms);
  void borrow(int most, const Terms& terms);
  int borrowable(const Terms& terms) const;
  void update_cores();
  bool has_all_owned() const { return in_use_.size() + offered_.size() == owned_.size(); }
  bool is_offered(int core) const;
  bool is_foreign(int core) const;

  CoreTable& table_;
  std::vector<int> domain_;
  int surplus_;
  std::vector<int> owned_;     // cores that this process owns
  std::vector<int> in_use_;    // of owned_: in use by this process
  std::vector<int> offered_;   // of owned_: offered by the program
  std::vector<int> former_;    // owned before the last plan; until all cores that are owned now are in use
  std::vector<int> kept_;      // of former_: still in use
  std::vector<int> borrowed_;  // owned by other processes
  std::vector<int> cores_;     // all in use
  std::uint32_t generation_ = 0;
  bool lending_ = false;
  bool shares_ = false;
};

}  // namespace steelyard::cores
