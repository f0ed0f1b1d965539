// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "node/segment.h"

namespace steelyard::node {

/// Which processes of this node have arrived at which collective, in shared memory: each member counts its own
/// collectives on a communicator, so a member is late exactly while its count is below the reader's. No MPI call, no
/// lock; arriving is an atomic store to a cache line of one's own, and a wake-up only if another process sleeps.
class Arrivals {
 public:
  static constexpr int kGroups = 128;    ///< Size: communicators that can be followed at a time
  static constexpr int kRemembered = 4;  ///< Size: collectives of a member whose time is remembered

  static std::size_t footprint(int processes);
  /// `cpus` of the node: bounds how many sleepers are woken at once.
  Arrivals(Segment& segment, int processes, int me, int cpus = online_cpus());

  /// A communicator's members on this node. Valid until forget().
  struct Group {
    int slot = -1;
    std::uint64_t key = 0;
    bool trusted = true;              ///< false once a collective completed before all were counted
    std::uint32_t count = 0;          ///< collectives of this process on it
    std::vector<int> members;         ///< node ranks, this process included
    std::vector<int> member_of_rank;  ///< node rank by communicator rank; -1 for other nodes
    bool sure = false;                ///< every member follows it, or will
    bool whole = false;               ///< it has no members on other nodes
  };

  /// Called by every local member, in an order that is the same at all of them. nullptr where the table is full. Owned
  /// here.
  /// Once the table was full, what one member follows another may have been refused: groups are no longer `sure`.
  Group* follow(std::uint64_t members_hash, std::vector<int> members, std::vector<int> member_of_rank);
  /// Called by every local member that got a group. `vacated`, if given, is called with the slot by the last one,
  /// before another communicator can have it.
  void forget(Group* group, const std::function<void(int)>& vacated = {});

  /// Counts this process in at its next collective of the group. `now` in ns, by a clock that all members share.
  /// `may_end`: a barrier, and this process asks ends_here() before it goes on.
  void arrive(Group& group, std::int64_t now, bool may_end = false);
  /// Whether the present barrier, at which this process arrived with `may_end`, ends here: all members have arrived, so
  /// the MPI library need not be called for it. The first member that asks decides for all; before all have arrived, it
  /// is no.
  ///
  /// 1. All members that ask get the same answer: the first that is noted stands.
  /// 2. Yes is noted only by a member that sees every member at this very barrier, arrived with `may_end`. So each of
  ///    them will ask.
  /// 3. Two answers are kept. No member is two barriers ahead of another, so the answer to a barrier is not replaced
  ///    before all have read it. Should a collective have been missed (see Group::trusted), the answer is no.
  bool ends_here(const Group& group);
  /// Wakes the members that sleep on the group: to be called after each arrive(). False if it wakes none.
  /// @param if_last every member that waits at this collective waits for all: it wakes them only if all have arrived
  ///
  /// With more members than CPUs, the members that are woken at once would take the CPU from the one that wakes them,
  /// which is on the critical path. So it wakes only as many as there are CPUs besides its own, and each member that is
  /// woken wakes the next ones. `wakings` of the group counts the wake-ups; a member sleeps on the count that it saw.
  ///
  /// 1. A member counts itself as a sleeper, reads `wakings`, and then looks whether its wait is over. A member that
  ///    arrives notes its arrival, and then looks for sleepers. So the sleeper sees the arrival, or the arrival sees
  ///    the sleeper and changes `wakings`. With `if_last`, the member whose arrival is noted last sees all others, and
  ///    sees each sleeper that has not seen it.
  /// 2. No member falls asleep on a count that is not the present one: the kernel checks it. So after a wake-up, the
  ///    members that sleep on an older count only become fewer.
  /// 3. Only members that sleep on another count than the present one are woken, and each wakes the next ones before
  ///    anything else. So while one of them sleeps, another one has been woken and has still to do this. If it wakes
  ///    fewer than it may, none is left.
  /// 4. A member that was woken and sleeps again sleeps on the present count: a chain wakes no member twice, and ends.
  ///
  /// Counts are told apart modulo 32: a member that sleeps through exactly 32 wake-ups is left for the next one. That
  /// takes 31 members that are woken before it, and lasts no longer than the `ns` of its sleep().
  bool wake(const Group& group, bool if_last = false);
  /// A member sleeps on the group, or did so just now.
  bool watched(const Group& group) const;
  /// When `member` (node rank) came to this process's present collective of the group; -1 where it has not, or where it
  /// is so far ahead that it is forgotten.
  std::int64_t when(const Group& group, int member) const;
  /// The member that came last to it; -1 if any arrival time is unknown.
  int last(const Group& group) const;
  /// True where `member` (node rank) has arrived at this process's present collective of the group.
  bool here(const Group& group, int member) const;
  /// The first member that has not arrived; -1 where all have.
  int missing(const Group& group) const;

  /// Sleeps until a member arrives in the group, at most `ns`; not at all if the wait is over: `over()`.
  template <class Over>
  void sleep(const Group& group, std::int64_t ns, const Over& over) {
    const std::uint32_t seen = lie_down(group);
    if (!over()) doze(group, seen, ns);
    get_up(group);
  }

 private:
  static int online_cpus();
  struct alignas(64) Slot {
    std::uint64_t key;  // 0 where free; under the lock, as the next
    int members_left;   // members that have not called forget()
    bool sure;
    std::atomic<std::uint32_t> wakings;  // futex word
    std::atomic<std::uint32_t> sleepers;
    std::atomic<std::uint64_t> answers[2];  // of ends_here(): a count, and in the lowest bit whether it is yes
  };

  // A member's own line: no other process writes to it, and others read it only while they wait or have waited long.
  struct alignas(64) Count {
    std::atomic<std::uint32_t> value;
    std::atomic<std::uint32_t> may_end;           // the last barrier that may end here; written before `value`
    std::atomic<std::int64_t> when[kRemembered];  // it arrived, by count
  };

  Count& line(int slot, int member) const { return counts_[slot * stride_ + member]; }
  std::uint32_t lie_down(const Group& group);
  void doze(const Group& group, std::uint32_t seen, std::int64_t ns);
  void get_up(const Group& group);
  bool lock();
  void unlock();
  struct Claim {
    int slot;
    bool sure;
  };
  Claim claim(std::uint64_t key, int members);

  std::atomic<std::uint32_t>* lock_;
  std::atomic<std::uint32_t>* full_;  // it has been
  Slot* slots_;
  Count* counts_;  // by slot and node rank
  int stride_;
  int me_;
  int at_once_;                                         // members that one member wakes
  std::vector<std::unique_ptr<Group>> groups_;          // those that are followed
  std::map<std::uint64_t, std::uint32_t> generations_;  // communicators with the same members so far
};

}  // namespace steelyard::node
