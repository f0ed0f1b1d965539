// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>
#include <vector>

#include "node/cpu_set.h"
#include "node/topology.h"

namespace steelyard::phases {

using node::CpuSet;

/// What a machine is made of, from the whole to the part.
enum class Resource { machine, package, numa, l3, core, pu };
inline constexpr int kResources = static_cast<int>(Resource::pu) + 1;
std::string_view name_of(Resource resource);

/// Counts resources within resources, and says which CPUs they contain. Pure: depends only on the given topology.
class Machine {
 public:
  explicit Machine(const node::Topology& topology);

  bool has(Resource resource) const { return !sets(resource).empty(); }
  /// The resource itself, or the closest one above it that the machine has. There is always a machine.
  Resource nearest(Resource resource) const;

  int count(Resource resource) const { return static_cast<int>(sets(resource).size()); }
  /// How many of `inner` lie in the `index`-th `outer`, wholly or in part.
  int count_in(Resource outer, int index, Resource inner) const;
  const CpuSet& cpus(Resource resource, int index) const { return sets(resource)[static_cast<std::size_t>(index)]; }
  const CpuSet& all() const { return cpus(Resource::machine, 0); }
  /// The first of these resources that contains all of `set`; -1 if none does, or if `set` is empty.
  int holder(Resource resource, const CpuSet& set) const;
  /// The resource with most CPUs of `set`; the lowest index of equal ones.
  int closest(Resource resource, const CpuSet& set) const;
  /// Cores of which at least one CPU is in `set`.
  int cores(const CpuSet& set) const;

  int kinds() const { return kinds_; }
  /// Kind of a CPU, from 0, the one with the lowest power; -1 for a CPU that this machine lacks.
  int kind(int cpu) const;
  /// The most hardware threads that a core has.
  int threads_per_core() const;

 private:
  const std::vector<CpuSet>& sets(Resource resource) const { return sets_[static_cast<std::size_t>(resource)]; }
  std::array<std::vector<CpuSet>, kResources> sets_;
  std::vector<node::Pu> pus_;
  int kinds_ = 1;
};

}  // namespace steelyard::phases
