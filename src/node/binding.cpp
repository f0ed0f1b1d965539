// SPDX-License-Identifier: BSD-3-Clause
#include "node/binding.h"

#include <sched.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

namespace steelyard::node {

// The kernel refuses fewer words than it has itself, and does not say how many those are.
CpuSet affinity_mask(int thread) {
  constexpr std::size_t kFirst = 128,
                        kMost = 16384;  // Size: words; 8,192 CPUs, which Linux on x86-64 allows; a million
  for (std::vector<std::uint64_t> words(kFirst); words.size() <= kMost; words.resize(2 * words.size())) {
    if (sched_getaffinity(thread, words.size() * sizeof(words[0]), reinterpret_cast<cpu_set_t*>(words.data())) == 0)
      return CpuSet::from_words(words.data(), words.size());
    if (errno != EINVAL) break;
  }
  return {};
}

std::uint64_t pid_namespace() {
  struct stat file = {};
  return stat("/proc/self/ns/pid", &file) == 0 ? file.st_ino : 0;
}

namespace {
std::atomic<bool> g_notes = false;  ///< a thread's binding is noted: most processes never read such notes
constinit thread_local CpuSet t_noted;

CpuSet& given_mask() {
  static CpuSet mask;
  return mask;
}

bool bind(int thread, const CpuSet& cpus) {
  const std::vector<std::uint64_t> words = cpus.words();
  return sched_setaffinity(thread, words.size() * sizeof(words[0]), reinterpret_cast<const cpu_set_t*>(words.data())) ==
         0;
}

}  // namespace

int this_cpu() {
  if (g_notes.load(std::memory_order_relaxed) && !t_noted.empty()) return t_noted.first();
  return sched_getcpu();
}

void note_binding(CpuSet cpus) {
  t_noted = std::move(cpus);
  g_notes.store(true, std::memory_order_relaxed);
}

CpuSet bound_to() {
  if (g_notes.load(std::memory_order_relaxed) && !t_noted.empty()) return t_noted;
  return affinity_mask();
}

const CpuSet& mask_at_start() {
  static const CpuSet mask = given_mask().empty() ? affinity_mask() : given_mask();
  return mask;
}

void set_mask_at_start(CpuSet cpus) { given_mask() = std::move(cpus); }

bool bind_this_thread(const CpuSet& cpus) { return bind(0, cpus); }
bool bind_thread(int thread, const CpuSet& cpus) { return thread > 0 && bind(thread, cpus); }

}  // namespace steelyard::node
