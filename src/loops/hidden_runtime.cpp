// SPDX-License-Identifier: BSD-3-Clause
#include "loops/hidden_runtime.h"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "loops/openmp.h"

namespace steelyard::loops::hidden_runtime {
namespace {

/// Variables that all runtimes read and hardly any program does. Their prefix OMP_ is left out here, so that the search
/// does not find this table.
constexpr std::array<const char*, 3> kRead = {"MAX_ACTIVE_LEVELS", "WAIT_POLICY", "THREAD_LIMIT"};

struct Search {
  std::uintptr_t address;
  std::array<bool, kRead.size()> found = {};
  bool all() const {
    return std::ranges::all_of(found, [](bool each) { return each; });
  }
};

// Not memmem() or std::search(): sanitizers report that these read between two variables.
__attribute__((no_sanitize("address"))) void look_through(const char* bytes, std::size_t size, Search& search) {
  for (std::size_t i = 0; i + 4 < size; ++i) {
    if (bytes[i] != 'O' || bytes[i + 1] != 'M' || bytes[i + 2] != 'P' || bytes[i + 3] != '_') continue;
    const char* const rest = bytes + i + 4;
    const std::size_t left = size - i - 4;
    for (std::size_t n = 0; n < kRead.size(); ++n) {
      std::size_t same = 0;
      while (kRead[n][same] != 0 && same < left && rest[same] == kRead[n][same]) ++same;
      search.found[n] = search.found[n] || kRead[n][same] == 0;
    }
  }
}

template <class Visit>
void each_segment(const dl_phdr_info& info, Visit&& visit) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) visit(segment, info.dlpi_addr + segment.p_vaddr);
  }
}

int look(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  Search& search = *static_cast<Search*>(data);
  bool holds = false;
  each_segment(*info, [&](const ElfW(Phdr) & segment, std::uintptr_t begin) {
    holds |= begin <= search.address && search.address - begin < segment.p_memsz;
  });
  if (!holds) return 0;
  each_segment(*info, [&](const ElfW(Phdr) & segment, std::uintptr_t begin) {
    if ((segment.p_flags & PF_R) == 0 || (segment.p_flags & PF_W) != 0) return;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as the loader has mapped it
    look_through(reinterpret_cast<const char*>(begin), segment.p_filesz, search);
  });
  return 1;
}

bool first_thread() {
  static thread_local const bool first = ::gettid() == ::getpid();
  return first;
}

}  // namespace

bool within(const void* address) {
  static auto& known = *new std::map<const void*, bool>;
  static auto& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  const auto [place, unknown] = known.try_emplace(address, false);
  if (unknown) {
    Search search{reinterpret_cast<std::uintptr_t>(address)};
    dl_iterate_phdr(look, &search);
    place->second = search.all();
  }
  return place->second;
}

bool may_be_in_team(const void* caller) {
  if (first_thread() || openmp::in_region()) return false;
  static thread_local const void* latest = nullptr;
  static thread_local bool answer = false;
  if (latest != caller) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): where the executable begins to run
    answer = within(reinterpret_cast<const void*>(::getauxval(AT_ENTRY))) || within(caller);
    latest = caller;
  }
  return answer;
}

}  // namespace steelyard::loops::hidden_runtime
