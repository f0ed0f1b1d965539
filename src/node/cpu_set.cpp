// SPDX-License-Identifier: BSD-3-Clause
#include "node/cpu_set.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace steelyard::node {
namespace {

static_assert(sizeof(unsigned long) == sizeof(std::uint64_t), "a word of hwloc is a word of the kernel");

// Of a call that fails only without memory.
void check(int outcome) {
  if (outcome < 0) throw std::bad_alloc();
}

}  // namespace

CpuSet::CpuSet(const std::vector<int>& cpus) {
  for (const int cpu : cpus) add(cpu);
}

CpuSet::CpuSet(const CpuSet& other) {
  if (other.bits_ != nullptr) check(hwloc_bitmap_copy(own(), other.bits_));
}

CpuSet& CpuSet::operator=(CpuSet other) noexcept {
  std::swap(bits_, other.bits_);
  return *this;
}

CpuSet::~CpuSet() {
  if (bits_ != nullptr) hwloc_bitmap_free(bits_);
}

const hwloc_bitmap_s* CpuSet::bits() const {
  static const hwloc_bitmap_s* const none =
      hwloc_bitmap_alloc();  // never freed: threads may ask while the process ends
  return bits_ != nullptr ? bits_ : none;
}

hwloc_bitmap_s* CpuSet::own() {
  if (bits_ == nullptr) bits_ = hwloc_bitmap_alloc();
  if (bits_ == nullptr) throw std::bad_alloc();
  return bits_;
}

std::optional<CpuSet> CpuSet::parse(const std::string& list) {
  CpuSet set;
  if (!list.empty() && (hwloc_bitmap_list_sscanf(set.own(), list.c_str()) < 0 || set.count() < 0)) return std::nullopt;
  return set;
}

std::optional<CpuSet> CpuSet::parse_mask(const std::string& hexadecimal) {
  CpuSet set;
  if (hwloc_bitmap_taskset_sscanf(set.own(), hexadecimal.c_str()) < 0 || set.count() < 0) return std::nullopt;
  return set;
}

CpuSet CpuSet::from_words(const std::uint64_t* words, std::size_t count) {
  CpuSet set;
  while (count > 0 && words[count - 1] == 0) --count;
  for (std::size_t i = 0; i < count; ++i)
    check(hwloc_bitmap_set_ith_ulong(set.own(), static_cast<unsigned>(i), words[i]));
  return set;
}

std::vector<std::uint64_t> CpuSet::words() const {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(last() + 64) / 64);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = hwloc_bitmap_to_ith_ulong(bits(), static_cast<unsigned>(i));
  return words;
}

void CpuSet::add(int cpu) {
  if (cpu >= 0) check(hwloc_bitmap_set(own(), static_cast<unsigned>(cpu)));
}

bool CpuSet::has(int cpu) const { return cpu >= 0 && hwloc_bitmap_isset(bits(), static_cast<unsigned>(cpu)) != 0; }
int CpuSet::count() const { return hwloc_bitmap_weight(bits()); }
int CpuSet::last() const { return hwloc_bitmap_last(bits()); }
int CpuSet::next(int cpu) const { return hwloc_bitmap_next(bits(), cpu); }

std::vector<int> CpuSet::cpus() const {
  std::vector<int> cpus;
  for (int cpu = first(); cpu >= 0; cpu = next(cpu)) cpus.push_back(cpu);
  return cpus;
}

CpuSet CpuSet::only(int n) const {
  int cpu = first();
  while (cpu >= 0 && n-- > 0) cpu = next(cpu);
  return {cpu};
}

bool CpuSet::within(const CpuSet& other) const { return hwloc_bitmap_isincluded(bits(), other.bits()) != 0; }
bool CpuSet::meets(const CpuSet& other) const { return hwloc_bitmap_intersects(bits(), other.bits()) != 0; }

CpuSet operator&(const CpuSet& a, const CpuSet& b) {
  CpuSet both;
  check(hwloc_bitmap_and(both.own(), a.bits(), b.bits()));
  return both;
}

CpuSet operator|(const CpuSet& a, const CpuSet& b) {
  CpuSet either;
  check(hwloc_bitmap_or(either.own(), a.bits(), b.bits()));
  return either;
}

CpuSet operator-(const CpuSet& a, const CpuSet& b) {
  CpuSet rest;
  check(hwloc_bitmap_andnot(rest.own(), a.bits(), b.bits()));
  return rest;
}

bool operator==(const CpuSet& a, const CpuSet& b) { return hwloc_bitmap_isequal(a.bits(), b.bits()) != 0; }

std::string to_text(const CpuSet& set) {
  char* list = nullptr;
  check(hwloc_bitmap_list_asprintf(&list, set.bits()));
  const std::unique_ptr<char, decltype(&std::free)> owned(list, std::free);
  return list;
}

base::Status SharedCpuSet::assign(const CpuSet& set) {
  words.fill(0);
  if (set.last() >= kMost) {
    return base::Status::failure(
        base::Code::unsupported,
        fmt::format("CPU {} is beyond the {} CPUs that Steelyard can share: give the job CPUs 0-{} only", set.last(),
                    kMost, kMost - 1));
  }
  std::ranges::copy(set.words(), words.begin());
  return {};
}

}  // namespace steelyard::node
