// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "cores/core_table.h"

namespace steelyard::cores {

/// The cores that this process uses, and the rules by which it takes and leaves them. Only at region boundaries and
/// around blocking MPI calls, only by the primary thread, so a team never loses a core under its feet.
class Holding {
 public:
  /// `domain` by core: neighbours are borrowed first.
  Holding(CoreTable& table, std::vector<int> domain);

  /// Before a region: leaves what the plan gave to others, takes what is home, gives back what its home will want
  /// before the region ends, and borrows up to `most` cores in all where `may_borrow`. A few loads where nothing
  /// changed. True where the set of cores is another than before.
  bool settle(int most, bool may_borrow, const Terms& terms = {});
  /// Takes account of cores that others have put this process on, and returns them.
  std::vector<int> find_given();
  /// After a region: gives back what its home asked for.
  void give_back_wanted();
  /// Before a blocking call: whoever wakes by it must find its cores free, so guests go home first, and what a plan
  /// gave to others is left to them.
  void leave_what_is_not_home(std::int64_t now);
  /// Around a wait: leaves everything to others; then comes back for what is home.
  void lend_all(std::int64_t now, const Wait& wait);
  /// The wait goes on for longer.
  void expect_wait(std::int64_t until) { table_.expect_wait(until); }
  void come_back();

  /// Cores in use, home first. Empty only where there is no home at all: a process whose cores are all out with guests
  /// shares its first one for the moment.
  const std::vector<int>& cores() const { return cores_; }
  int borrowed() const { return static_cast<int>(borrowed_.size()); }
  /// Has leave_what_is_not_home() anything to do?
  bool holds_what_is_not_home() const {
    return !borrowed_.empty() || !kept_.empty() || generation_ != table_.generation();
  }
  /// True while the only core in use is a home core that a guest still runs on.
  bool shares() const { return shares_; }
  int home_count() const { return static_cast<int>(home_.size()); }

 private:
  void read_homes();
  void take_homes();
  void keep_meanwhile();
  void leave(int core, std::int64_t now);
  void return_borrowed(std::int64_t now);
  void give_back_needed(const Terms& terms);
  void borrow(int most, const Terms& terms);
  void list();
  bool complete() const { return own_.size() == home_.size(); }

  CoreTable& table_;
  std::vector<int> domain_;
  std::vector<int> home_;      // cores whose home is here
  std::vector<int> own_;       // those of them that are in use here
  std::vector<int> former_;    // homes of before the last plan, until the new ones are all in use
  std::vector<int> kept_;      // those of them that are in use until then
  std::vector<int> borrowed_;  // cores of others
  std::vector<int> cores_;     // all in use
  std::uint32_t generation_ = 0;
  bool lending_ = false;
  bool shares_ = false;
};

}  // namespace steelyard::cores
