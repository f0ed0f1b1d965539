// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

struct hwloc_bitmap_s;

namespace steelyard::node {

/// A set of CPUs by os_index, of any size: an hwloc bitmap with the semantics of a value. An empty set has no memory.
class CpuSet {
 public:
  CpuSet() noexcept = default;
  explicit CpuSet(const std::vector<int>& cpus);
  CpuSet(std::initializer_list<int> cpus) : CpuSet(std::vector<int>(cpus)) {}
  CpuSet(const CpuSet& other);
  constexpr CpuSet(CpuSet&& other) noexcept : bits_(other.bits_) { other.bits_ = nullptr; }
  CpuSet& operator=(CpuSet other) noexcept;
  ~CpuSet();

  /// "0-3,8"; "" is the empty set. Nothing if the text is not a finite set.
  static std::optional<CpuSet> parse(const std::string& list);
  /// "0x3" of taskset and Slurm, of any length.
  static std::optional<CpuSet> parse_mask(const std::string& hexadecimal);
  /// From words of 64 CPUs each, the lowest first: the form of the kernel and of the public API.
  static CpuSet from_words(const std::uint64_t* words, std::size_t count);
  /// As many words as the set needs.
  std::vector<std::uint64_t> words() const;

  /// A negative number is no CPU: it is ignored.
  void add(int cpu);
  bool has(int cpu) const;
  bool empty() const { return first() < 0; }
  int count() const;
  int first() const { return next(-1); }  ///< -1 if the set is empty
  int last() const;                       ///< -1 if the set is empty
  std::vector<int> cpus() const;          ///< in ascending order
  /// The set of the n-th CPU alone, counted from 0; empty if there are not so many.
  CpuSet only(int n) const;
  bool within(const CpuSet& other) const;
  bool meets(const CpuSet& other) const;

  friend CpuSet operator&(const CpuSet& a, const CpuSet& b);
  friend CpuSet operator|(const CpuSet& a, const CpuSet& b);
  friend CpuSet operator-(const CpuSet& a, const CpuSet& b);
  friend bool operator==(const CpuSet& a, const CpuSet& b);
  friend std::string to_text(const CpuSet& set);

 private:
  /// The lowest CPU above `cpu`; -1 if there is none.
  int next(int cpu) const;
  const hwloc_bitmap_s* bits() const;
  hwloc_bitmap_s* own();

  hwloc_bitmap_s* bits_ = nullptr;  ///< null: empty
};

/// "0-3,8"; "" for the empty set.
std::string to_text(const CpuSet& set);

/// A set of CPUs in plain memory, for shared memory.
struct SharedCpuSet {
  /// Format: CPUs 0 to 4095, what steelyard_cpuset_t of the public API, whose ABI is fixed, has room for.
  static constexpr int kMost = 4096;
  std::array<std::uint64_t, kMost / 64> words;

  static constexpr char kNoRoomElsewhere[] =
      "another rank has a CPU beyond those that Steelyard can share: give the job CPUs 0-4095 only";

  /// Refused, and the set left empty, if there is no room for a CPU of `set`.
  base::Status assign(const CpuSet& set);
  CpuSet set() const { return CpuSet::from_words(words.data(), words.size()); }
};

}  // namespace steelyard::node
