// SPDX-License-Identifier: BSD-3-Clause
#include "node/arrivals.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/complaint.h"
#include "wait/back_off.h"

namespace steelyard::node {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9ULL;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// Of two counts, of which one is ahead of the other by less than half of what there are.
std::int32_t difference(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b); }

/// The bit on which a member sleeps that has seen this count of wake-ups, and the bits of all other counts.
std::uint32_t bit_of(std::uint32_t wakings) { return std::uint32_t{1} << wakings % 32; }
std::uint32_t other_than(std::uint32_t wakings) { return ~bit_of(wakings); }

}  // namespace

std::size_t Arrivals::footprint(int processes) {
  return 2 * Segment::footprint<std::atomic<std::uint32_t>>(1) + Segment::footprint<Slot>(kGroups) +
         Segment::footprint<Count>(std::size_t{kGroups} * processes);
}

Arrivals::Arrivals(Segment& segment, int processes, int me, int cpus)
    : lock_(segment.carve<std::atomic<std::uint32_t>>(1)),
      full_(segment.carve<std::atomic<std::uint32_t>>(1)),
      slots_(segment.carve<Slot>(kGroups)),
      counts_(segment.carve<Count>(std::size_t{kGroups} * processes)),
      stride_(processes),
      me_(me),
      at_once_(std::max(1, cpus - 1)) {}

int Arrivals::online_cpus() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

// Rare (once a communicator), so a lock is good enough; a holder that died, and it alone, makes the communicator go
// unfollowed: when a wait would be reported.
bool Arrivals::lock() {
  const std::int64_t since = base::now_ns();
  while (lock_->exchange(1, std::memory_order_acquire) != 0) {
    const std::int64_t waited = base::now_ns() - since;
    if (waited > base::kFirstComplaint) return false;
    wait::sleep_for(wait::kSetUp.sleep(waited));
  }
  return true;
}

void Arrivals::unlock() { lock_->store(0, std::memory_order_release); }

// All members hold the same key: the first member takes a free slot for it, the others find it.
Arrivals::Claim Arrivals::claim(std::uint64_t key, int members) {
  if (!lock()) return {-1, false};
  int found = -1;
  int free = -1;
  for (int slot = 0; slot < kGroups && found < 0; ++slot) {
    if (slots_[slot].key == key) found = slot;
    if (slots_[slot].key == 0 && free < 0) free = slot;
  }
  if (found < 0 && free >= 0) {
    found = free;
    slots_[found].key = key;
    slots_[found].members_left = members;
    slots_[found].sure = full_->load() == 0;
  }
  if (found < 0) full_->store(1);
  const bool sure = found >= 0 && slots_[found].sure;
  unlock();
  return {found, sure};
}

Arrivals::Group* Arrivals::follow(std::uint64_t members_hash, std::vector<int> members,
                                  std::vector<int> member_of_rank) {
  const std::uint64_t generation = generations_[members_hash]++;
  const std::uint64_t key = mix(members_hash ^ mix(generation + 1)) | 1;
  const auto [slot, sure] = claim(key, static_cast<int>(members.size()));
  if (slot < 0) return nullptr;
  const bool whole = members.size() == member_of_rank.size();
  groups_.push_back(
      std::make_unique<Group>(Group{slot, key, true, 0, std::move(members), std::move(member_of_rank), sure, whole}));
  return groups_.back().get();
}

void Arrivals::forget(Group* group, const std::function<void(int)>& vacated) {
  if (!lock()) return;
  Slot& slot = slots_[group->slot];
  if (--slot.members_left == 0) {
    for (const int member : group->members) {
      line(group->slot, member).may_end.store(0);
      line(group->slot, member).value.store(0);
    }
    for (auto& answer : slot.answers) answer.store(0);
    if (vacated) vacated(group->slot);
    slot.key = 0;
  }
  unlock();
  std::erase_if(groups_, [&](const auto& followed) { return followed.get() == group; });
}

void Arrivals::arrive(Group& group, std::int64_t now, bool may_end) {
  ++group.count;
  Count& mine = line(group.slot, me_);
  if (may_end) mine.may_end.store(group.count, std::memory_order_relaxed);
  mine.when[group.count % kRemembered].store(now, std::memory_order_relaxed);
  mine.value.store(group.count, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // before this member looks for sleepers and for other arrivals
}

bool Arrivals::watched(const Group& group) const { return slots_[group.slot].sleepers.load() != 0; }

bool Arrivals::wake(const Group& group, bool if_last) {
  Slot& slot = slots_[group.slot];
  if (slot.sleepers.load() == 0) return false;
  if (if_last && missing(group) >= 0) return false;
  const std::uint32_t wakings = slot.wakings.fetch_add(1) + 1;
  wait::wake(slot.wakings, at_once_, other_than(wakings));
  return true;
}

std::int64_t Arrivals::when(const Group& group, int member) const {
  if (!here(group, member)) return -1;
  const Count& theirs = line(group.slot, member);
  const std::int64_t when = theirs.when[group.count % kRemembered].load(std::memory_order_acquire);
  const std::uint32_t ahead = theirs.value.load(std::memory_order_relaxed) - group.count;
  return ahead + 1 < kRemembered ? when : -1;  // otherwise that of a later one stands there, or is about to
}

int Arrivals::last(const Group& group) const {
  int last = -1;
  std::int64_t latest = -1;
  for (const int member : group.members) {
    const std::int64_t came = when(group, member);
    if (came < 0) return -1;
    if (came > latest) last = member;
    latest = std::max(latest, came);
  }
  return last;
}

bool Arrivals::here(const Group& group, int member) const {
  return difference(line(group.slot, member).value.load(std::memory_order_acquire), group.count) >= 0;
}

int Arrivals::missing(const Group& group) const {
  for (const int member : group.members) {
    if (!here(group, member)) return member;
  }
  return -1;
}

bool Arrivals::ends_here(const Group& group) {
  const auto at_this_barrier = [&](int member) {
    const Count& theirs = line(group.slot, member);
    return theirs.value.load() == group.count && theirs.may_end.load(std::memory_order_relaxed) == group.count;
  };
  const bool yes = std::ranges::all_of(group.members, at_this_barrier);
  const std::uint64_t mine = std::uint64_t{group.count} << 1 | (yes ? 1 : 0);
  auto& answers = slots_[group.slot].answers;
  const auto count_of = [](std::uint64_t answer) { return static_cast<std::uint32_t>(answer >> 1); };
  for (;;) {
    std::uint64_t known[] = {answers[0].load(), answers[1].load()};
    for (const std::uint64_t answer : known) {
      if (count_of(answer) == group.count) return (answer & 1) != 0;
    }
    const int older = difference(count_of(known[0]), count_of(known[1])) > 0 ? 1 : 0;
    if (difference(count_of(known[older]), group.count) > 0) return false;
    if (answers[older].compare_exchange_strong(known[older], mine)) return yes;
  }
}

std::uint32_t Arrivals::lie_down(const Group& group) {
  Slot& slot = slots_[group.slot];
  slot.sleepers.fetch_add(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return slot.wakings.load();
}

void Arrivals::doze(const Group& group, std::uint32_t seen, std::int64_t ns) {
  std::atomic<std::uint32_t>& wakings = slots_[group.slot].wakings;
  if (wait::sleep_on(wakings, seen, ns, bit_of(seen))) wait::wake(wakings, at_once_, other_than(wakings.load()));
}

void Arrivals::get_up(const Group& group) { slots_[group.slot].sleepers.fetch_sub(1); }

}  // namespace steelyard::node
