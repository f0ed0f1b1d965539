// SPDX-License-Identifier: BSD-3-Clause
#include "phases/machine.h"

#include <algorithm>

namespace steelyard::phases {
namespace {

int index_of(const node::Pu& pu, Resource resource, int position) {
  switch (resource) {
    case Resource::machine: return 0;
    case Resource::package: return pu.package;
    case Resource::numa: return pu.numa;
    case Resource::l3: return pu.l3;
    case Resource::core: return pu.core;
    case Resource::pu: return position;
  }
  return 0;
}

}  // namespace

std::string_view name_of(Resource resource) {
  constexpr std::string_view names[] = {"machine", "package", "NUMA domain", "L3 cache", "core", "hardware thread"};
  return names[static_cast<std::size_t>(resource)];
}

Machine::Machine(const node::Topology& topology) : pus_(topology.pus) {
  const bool there[] = {true, topology.has_packages, topology.has_numa, topology.has_l3, true, true};
  for (int level = 0; level < kResources; ++level) {
    if (!there[level]) continue;
    auto& sets = sets_[static_cast<std::size_t>(level)];
    for (std::size_t i = 0; i < pus_.size(); ++i) {
      const auto index = static_cast<std::size_t>(index_of(pus_[i], static_cast<Resource>(level), static_cast<int>(i)));
      if (sets.size() <= index) sets.resize(index + 1);
      sets[index].add(pus_[i].os_index);
    }
    // Indices are without gaps in what follows, also where a cgroup took all CPUs of one.
    std::erase_if(sets, [](const CpuSet& set) { return set.empty(); });
  }
  for (const node::Pu& pu : pus_) kinds_ = std::max(kinds_, pu.kind + 1);
}

Resource Machine::nearest(Resource resource) const {
  while (!has(resource)) resource = static_cast<Resource>(static_cast<int>(resource) - 1);
  return resource;
}

int Machine::count_in(Resource outer, int index, Resource inner) const {
  const CpuSet& within = cpus(outer, index);
  return static_cast<int>(std::ranges::count_if(sets(inner), [&](const CpuSet& set) { return set.meets(within); }));
}

int Machine::holder(Resource resource, const CpuSet& set) const {
  const CpuSet mine = set & all();
  if (mine.empty()) return -1;
  const auto found = std::ranges::find_if(sets(resource), [&](const CpuSet& one) { return mine.within(one); });
  return found == sets(resource).end() ? -1 : static_cast<int>(found - sets(resource).begin());
}

int Machine::closest(Resource resource, const CpuSet& set) const {
  int best = 0, most = -1;
  for (int index = 0; index < count(resource); ++index) {
    const int shared = (cpus(resource, index) & set).count();
    if (shared > most) best = index, most = shared;
  }
  return best;
}

int Machine::cores(const CpuSet& set) const {
  return static_cast<int>(
      std::ranges::count_if(sets(Resource::core), [&](const CpuSet& core) { return core.meets(set); }));
}

int Machine::kind(int cpu) const {
  const auto found = std::ranges::find(pus_, cpu, &node::Pu::os_index);
  return found == pus_.end() ? -1 : found->kind;
}

int Machine::threads_per_core() const {
  int most = 1;
  for (const CpuSet& core : sets(Resource::core)) most = std::max(most, core.count());
  return most;
}

}  // namespace steelyard::phases
