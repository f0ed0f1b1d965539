// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sched.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace steelyard::phases {

/// A set of CPUs by os_index. Plain memory, so that it may lie in shared memory; sets of the kernel's own layout.
struct CpuSet {
  static constexpr int kMost = 4096;
  std::array<std::uint64_t, kMost / 64> words{};

  void remove(int cpu) {
    if (cpu >= 0 && cpu < kMost) words[static_cast<std::size_t>(cpu) / 64] &= ~(std::uint64_t{1} << (cpu % 64));
  }
  void add(int cpu) {
    if (cpu >= 0 && cpu < kMost) words[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  bool has(int cpu) const {
    return cpu >= 0 && cpu < kMost && (words[static_cast<std::size_t>(cpu) / 64] >> (cpu % 64) & 1) != 0;
  }
  bool empty() const { return *this == CpuSet{}; }
  int count() const {
    int cpus = 0;
    for (const std::uint64_t word : words) cpus += std::popcount(word);
    return cpus;
  }
  /// The lowest; -1 where there is none.
  int first() const {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != 0) return static_cast<int>(i) * 64 + std::countr_zero(words[i]);
    }
    return -1;
  }
  /// A set of its n-th CPU alone, counted from 0; empty where there is none.
  CpuSet only(int n) const {
    CpuSet one;
    for (int cpu = 0; cpu < kMost && n >= 0; ++cpu) {
      if (has(cpu) && n-- == 0) one.add(cpu);
    }
    return one;
  }
  bool within(const CpuSet& other) const { return (*this & other) == *this; }
  bool meets(const CpuSet& other) const { return !(*this & other).empty(); }

  CpuSet operator&(const CpuSet& other) const {
    CpuSet both;
    for (std::size_t i = 0; i < words.size(); ++i) both.words[i] = words[i] & other.words[i];
    return both;
  }
  CpuSet operator|(const CpuSet& other) const {
    CpuSet either;
    for (std::size_t i = 0; i < words.size(); ++i) either.words[i] = words[i] | other.words[i];
    return either;
  }
  bool operator==(const CpuSet&) const = default;
};

/// "0-3,8".
inline std::string to_text(const CpuSet& set) {
  std::string text;
  for (int cpu = 0; cpu < CpuSet::kMost; ++cpu) {
    if (!set.has(cpu)) continue;
    int last = cpu;
    while (set.has(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpu);
    if (last > cpu) text += '-' + std::to_string(last);
    cpu = last;
  }
  return text;
}

/// The mask of a thread; of the calling one where `thread` is 0. Empty where the kernel does not tell.
inline CpuSet kernel_mask(int thread = 0) {
  CpuSet set;
  if (sched_getaffinity(thread, sizeof(set.words), reinterpret_cast<cpu_set_t*>(set.words.data())) != 0) set = {};
  return set;
}

/// False where the kernel refuses: the calling thread keeps what it had.
inline bool bind_calling_thread(const CpuSet& set) {
  return sched_setaffinity(0, sizeof(set.words), reinterpret_cast<const cpu_set_t*>(set.words.data())) == 0;
}

}  // namespace steelyard::phases
