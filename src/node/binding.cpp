// SPDX-License-Identifier: BSD-3-Clause
#include "node/binding.h"

#include <sched.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <bit>
#include <utility>

namespace steelyard::node {
namespace {

constexpr int kMostCpus = 8192;  // a larger set than cpu_set_t's 1,024, for the largest machines

struct CpuSet {
  CpuSet() : set(CPU_ALLOC(kMostCpus)), bytes(CPU_ALLOC_SIZE(kMostCpus)) { CPU_ZERO_S(bytes, set); }
  ~CpuSet() { CPU_FREE(set); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;
  cpu_set_t* set;
  std::size_t bytes;
};

}  // namespace

// Threads ask now and then where they are: by words, not by CPUs.
std::vector<int> affinity_mask() {
  constexpr int kBits = 64;
  std::array<std::uint64_t, kMostCpus / kBits> mask = {};
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(mask), reinterpret_cast<cpu_set_t*>(mask.data())) != 0) return cpus;
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (std::uint64_t left = mask[word]; left != 0; left &= left - 1)
      cpus.push_back(static_cast<int>(word) * kBits + std::countr_zero(left));
  }
  return cpus;
}

std::uint64_t pid_namespace() {
  struct stat file = {};
  return stat("/proc/self/ns/pid", &file) == 0 ? file.st_ino : 0;
}

namespace {
std::atomic<bool> g_notes = false;  ///< somebody's binding is noted: most processes never look at their threads' notes
thread_local std::vector<int> t_noted;
}  // namespace

int this_cpu() {
  if (g_notes.load(std::memory_order_relaxed) && !t_noted.empty()) return t_noted.front();
  return sched_getcpu();
}

void note_binding(std::vector<int> os_indices) {
  t_noted = std::move(os_indices);
  g_notes.store(true, std::memory_order_relaxed);
}

std::vector<int> bound_to() {
  if (g_notes.load(std::memory_order_relaxed) && !t_noted.empty()) return t_noted;
  return affinity_mask();
}

namespace {
std::vector<int>& given_mask() {
  static std::vector<int> mask;
  return mask;
}
}  // namespace

const std::vector<int>& mask_at_start() {
  static const std::vector<int> mask = given_mask().empty() ? affinity_mask() : given_mask();
  return mask;
}

void set_mask_at_start(std::vector<int> os_indices) { given_mask() = std::move(os_indices); }

namespace {

bool bind(int thread, const std::vector<int>& os_indices) {
  CpuSet mask;
  for (const int cpu : os_indices) {
    if (cpu >= 0 && cpu < kMostCpus) CPU_SET_S(cpu, mask.bytes, mask.set);
  }
  return CPU_COUNT_S(mask.bytes, mask.set) > 0 && sched_setaffinity(thread, mask.bytes, mask.set) == 0;
}

}  // namespace

bool bind_this_thread(int os_index) { return bind(0, {os_index}); }
bool bind_this_thread(const std::vector<int>& os_indices) { return bind(0, os_indices); }
bool bind_thread(int thread, const std::vector<int>& os_indices) { return thread > 0 && bind(thread, os_indices); }

}  // namespace steelyard::node
