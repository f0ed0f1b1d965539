#include "node/binding.h"

#include <sched.h>
#include <sys/stat.h>

#include <memory>

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

std::vector<int> affinity_mask() {
  CpuSet mask;
  std::vector<int> cpus;
  if (sched_getaffinity(0, mask.bytes, mask.set) != 0) return cpus;
  for (int cpu = 0; cpu < kMostCpus; ++cpu) {
    if (CPU_ISSET_S(cpu, mask.bytes, mask.set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::uint64_t pid_namespace() {
  struct stat file = {};
  return stat("/proc/self/ns/pid", &file) == 0 ? file.st_ino : 0;
}

int this_cpu() { return sched_getcpu(); }

const std::vector<int>& mask_at_start() {
  static const std::vector<int> mask = affinity_mask();
  return mask;
}

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
