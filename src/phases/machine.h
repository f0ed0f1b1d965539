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

/// Answers how many of what are in what, and which CPUs they hold. Pure: what it knows is the topology it was made of.
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
  /// The lowest index whose CPUs hold all of `set`; -1 where `set` spans several or is empty.
  int holder(Resource resource, const CpuSet& set) const;
  /// The resource that holds most CPUs of `set`; of equal ones, the lowest.
  int closest(Resource resource, const CpuSet& set) const;
  /// Cores of which at least one CPU is in `set`.
  int cores(const CpuSet& set) const;

  int kinds() const { return kinds_; }
  /// 0 for the most frugal kind; -1 for a CPU that is not here.
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
