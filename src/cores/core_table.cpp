// SPDX-License-Identifier: BSD-3-Clause
#include "cores/core_table.h"

#include <new>

namespace steelyard::cores {
namespace {

/// Objects in shared memory, of which zeros are the initial state.
template <class T>
T* shared(node::Segment& segment, int count) {
  T* objects = segment.carve<T>(static_cast<std::size_t>(count));
#ifdef STEELYARD_EXPLORE
  for (int i = 0; i < count; ++i) new (objects + i) T();  // the explorer numbers its atomics
#endif
  return objects;
}

}  // namespace

using node::Segment;

std::size_t CoreTable::footprint(int cores, int processes) {
  return Segment::footprint<Header>(1) + Segment::footprint<Core>(cores) +
         2 * Segment::footprint<base::Atomic<std::int32_t>>(processes) +
         Segment::footprint<base::Atomic<std::int64_t>>(processes);
}

CoreTable::CoreTable(Segment& segment, int cores, int processes, int me)
    : header_(shared<Header>(segment, 1)),
      core_(shared<Core>(segment, cores)),
      asked_(shared<base::Atomic<std::int32_t>>(segment, processes)),
      waits_for_(shared<base::Atomic<std::int32_t>>(segment, processes)),
      waits_until_(shared<base::Atomic<std::int64_t>>(segment, processes)),
      cores_(cores),
      processes_(processes),
      me_(me) {}

void CoreTable::settle(const std::vector<int>& owners) {
  for (int c = 0; c < cores_; ++c) {
    core_[c].owner.store(owners[c]);
    core_[c].user.store(owners[c] >= 0 ? owners[c] : kFree);
    core_[c].wanted.store(0);
    core_[c].offered.store(0);
  }
  header_->generation.store(1, std::memory_order_release);
}

void CoreTable::change_owners(const std::vector<int>& owners) {
  bool withdrawn = false;
  for (int c = 0; c < cores_; ++c) {
    core_[c].owner.store(owners[c]);
    if (owners[c] != kWithdrawn) continue;
    withdrawn = true;
    std::int32_t lent = kLent;
    if (core_[c].user.compare_exchange_strong(lent, kFree)) header_->lent_idle.fetch_sub(1);
  }
  if (withdrawn) header_->withdrawals.fetch_add(1, std::memory_order_release);
  header_->generation.fetch_add(1, std::memory_order_release);
}

std::vector<int> CoreTable::owners() const {
  std::vector<int> owners(cores_);
  for (int c = 0; c < cores_; ++c) owners[c] = core_[c].owner.load();
  return owners;
}

int CoreTable::withdrawn_in_use() const {
  int count = 0;
  for (int c = 0; c < cores_; ++c) count += is_withdrawn(c) && is_in_use(c) ? 1 : 0;
  return count;
}

bool CoreTable::take_own(int core) {
  std::int32_t user = core_[core].user.load();
  while (user < 0) {
    if (core_[core].user.compare_exchange_weak(user, me_)) {
      if (user == kLent) header_->lent_idle.fetch_sub(1);
      core_[core].wanted.store(0);
      core_[core].offered.store(0);
      return true;
    }
  }
  if (user == me_) return true;
  core_[core].wanted.store(1);
  core_[core].offered.store(0);
  asked_[user].store(1);
  return false;
}

bool CoreTable::retake_lent(int core) {
  std::int32_t lent = kLent;
  if (!core_[core].user.compare_exchange_strong(lent, me_)) return false;
  header_->lent_idle.fetch_sub(1);
  return true;
}

bool CoreTable::take_back(int core) {
  std::int32_t user = core_[core].user.load();
  if (user >= 0 || is_wanted(core) || is_withdrawn(core) || !core_[core].user.compare_exchange_strong(user, me_))
    return false;
  if (user == kLent) header_->lent_idle.fetch_sub(1);
  return true;
}

bool CoreTable::owner_waits_for(std::int32_t borrower, int core, std::int64_t until) const {
  std::int32_t process = core_[core].owner.load(std::memory_order_relaxed);
  if (process < 0) return process != kWithdrawn;
  if (is_offered(core)) return true;
  for (int steps = 0; steps < processes_; ++steps) {
    const std::int64_t expected = waits_until_[process].load();
    if (expected == 0) return false;
    const std::int32_t source = waits_for_[process].load();
    if (source == borrower) return true;
    if (source == Wait::kUnknown) return expected >= until;
    process = source;
  }
  return false;  // a cycle of waits: messages are on their way
}

void CoreTable::begin_wait(const Wait& wait) {
  waits_for_[me_].store(wait.source);
  waits_until_[me_].store(wait.until);
}

void CoreTable::expect_wait(std::int64_t until) {
  std::int64_t expected = waits_until_[me_].load(std::memory_order_relaxed);
  while (expected != 0 && expected < until && !waits_until_[me_].compare_exchange_weak(expected, until)) {
  }
}

bool CoreTable::can_be_borrowed(int core, const Terms& terms) const {
  return is_lent(core) && (lent_since(core) > terms.lent_after || is_offered(core)) &&
         owner_waits_until(core, terms.until);
}

bool CoreTable::borrow(int core, const Terms& terms) {
  if (!can_be_borrowed(core, terms)) return false;
  std::int32_t lent = kLent;
  if (!core_[core].user.compare_exchange_strong(lent, me_)) return false;
  header_->lent_idle.fetch_sub(1);
  return true;
}

void CoreTable::hand_to(int process, int core, std::int64_t now) {
  core_[core].lent_since.store(now, std::memory_order_relaxed);
  std::int32_t mine = me_;
  core_[core].user.compare_exchange_strong(mine, process);
}

void CoreTable::lend(int core, std::int64_t now) {
  std::int32_t mine = me_;
  if (core_[core].user.load() != me_) return;
  if (is_withdrawn(core)) return give_up(core);
  core_[core].lent_since.store(now, std::memory_order_relaxed);
  if (core_[core].user.compare_exchange_strong(mine, kLent)) header_->lent_idle.fetch_add(1);
}

// If a plan has given the core to another process meanwhile, that process may have asked for it just before the offer,
// which is withdrawn then.
void CoreTable::offer(int core, std::int64_t now) {
  core_[core].offered.store(1);
  lend(core, now);
  if (core_[core].wanted.load() != 0) core_[core].offered.store(0);
}

void CoreTable::give_up(int core) {
  std::int32_t mine = me_;
  core_[core].user.compare_exchange_strong(mine, kFree);
}

}  // namespace steelyard::cores
