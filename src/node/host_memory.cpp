// SPDX-License-Identifier: BSD-3-Clause
#include "node/host_memory.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/loaded_library.h"

namespace steelyard::node {
namespace {

constexpr int kRegionBits = 21;     // Size: 2 MiB, a huge page of x86-64
constexpr std::size_t kSlots = 64;  // Size: 512 bytes a thread, for 128 MiB

// There is no such change of the blocked signals, but the kernel reads the set of signals before it says so. A null
// pointer is no set to it.
bool ask_kernel(std::uintptr_t address) {
  constexpr int kNoSuchChange = ~0;     // Format: no value that rt_sigprocmask(2) knows
  constexpr std::size_t kSetBytes = 8;  // Size: of the kernel's signal set
  const std::uintptr_t set = address & ~(kSetBytes - 1);
  return set != 0 && (syscall(SYS_rt_sigprocmask, kNoSuchChange, set, nullptr, kSetBytes) == 0 || errno != EFAULT);
}

/// Only then can an address that the processor could read be another's later.
bool accelerator_is_here() {
  static std::atomic<bool> here = false;
  static std::atomic<unsigned long long> searched = 0;  // so many libraries were loaded then
  if (here.load(std::memory_order_relaxed)) return true;
  const unsigned long long libraries = base::loaded_libraries();
  if (searched.load(std::memory_order_relaxed) == libraries) return false;
  for (const char* driver : {"libcuda.so.1", "libamdhip64.so", "libhsa-runtime64.so.1", "libze_loader.so.1"}) {
    void* const found = dlopen(driver, RTLD_LAZY | RTLD_NOLOAD);
    if (found == nullptr) continue;
    dlclose(found);
    here.store(true, std::memory_order_relaxed);
    return true;
  }
  searched.store(libraries, std::memory_order_relaxed);
  return false;
}

}  // namespace

bool is_host_memory(const void* address) {
  static thread_local std::uintptr_t known[kSlots] = {};
  static thread_local bool remembers = true;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t region = (at >> kRegionBits) + 1;
  std::uintptr_t& slot = known[region % kSlots];
  if (remembers && slot == region) return true;
  const int error = errno;
  const bool readable = ask_kernel(at);
  remembers = remembers && !accelerator_is_here();
  if (remembers && readable) slot = region;
  errno = error;
  return readable;
}

}  // namespace steelyard::node
