// SPDX-License-Identifier: BSD-3-Clause
#include "phases/shared.h"

namespace steelyard::phases {

// Word by word and relaxed: a reader that meets a writer reads again.
void publish(Member& member, const CpuSet& cpus) {
  node::SharedCpuSet set;
  (void)set.assign(cpus);  // within the machine, for which Context::create() has found room
  member.bindings.fetch_add(1, std::memory_order_acq_rel);
  for (std::size_t i = 0; i < set.words.size(); ++i) {
    __atomic_store_n(&member.bound_to.words[i], set.words[i], __ATOMIC_RELAXED);
  }
  member.bindings.fetch_add(1, std::memory_order_release);
}

CpuSet published(const Member& member) {
  node::SharedCpuSet set;
  for (;;) {
    const std::uint32_t before = member.bindings.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < set.words.size(); ++i) {
      set.words[i] = __atomic_load_n(&member.bound_to.words[i], __ATOMIC_RELAXED);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && member.bindings.load(std::memory_order_relaxed) == before) return set.set();
  }
}

}  // namespace steelyard::phases
