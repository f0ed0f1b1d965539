// SPDX-License-Identifier: BSD-3-Clause
#include "loops/places.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "node/binding.h"

namespace steelyard::loops {
namespace {

struct Machine {
  std::size_t cpus = 0;
  std::vector<Place> place;  ///< by os_index; 0 if there is no such CPU
  const Machine* before = nullptr;
};

// Never destroyed: threads may look at it while the process exits.
std::atomic<const Machine*> g_machine = nullptr;

/// The machine as seen by a thread that is bound to `cpus` CPUs. A thread that may run anywhere does not query hwloc.
/// The query takes some ms, so no other thread waits for it.
const Machine* machine_for(std::size_t cpus, bool& anywhere) {
  const Machine* known = g_machine.load(std::memory_order_acquire);
  static const auto online = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  anywhere = cpus == 0 || (cpus > 1 && cpus >= (known != nullptr ? known->cpus : online));
  static std::atomic<bool> asked = false;
  if (known != nullptr || anywhere || asked.exchange(true)) return known;
  know_machine(node::discover());
  return g_machine.load(std::memory_order_acquire);
}

}  // namespace

void know_machine(const node::Topology& topology) {
  auto* const known = new Machine;
  const auto if_told = [](bool told, int index) { return told ? index : -1; };
  for (const node::Pu& pu : topology.pus) {
    const auto cpu = static_cast<std::size_t>(std::max(0, pu.os_index));
    if (cpu >= known->place.size()) known->place.resize(cpu + 1, 0);
    known->place[cpu] = place_of(if_told(topology.has_packages, pu.package), if_told(topology.has_numa, pu.numa),
                                 if_told(topology.has_l3, pu.l3), pu.core);
  }
  known->cpus = topology.pus.size();
  known->before = g_machine.exchange(known, std::memory_order_acq_rel);
}

std::optional<Place> place_of_this_thread() {
  const node::CpuSet cpus = node::bound_to();
  bool anywhere = false;
  const Machine* const known = machine_for(static_cast<std::size_t>(cpus.count()), anywhere);
  if (anywhere) return Place{0};
  if (known == nullptr) return std::nullopt;
  const auto at = [&](int cpu) {
    const auto index = static_cast<std::size_t>(cpu);
    return index < known->place.size() ? known->place[index] : Place{0};
  };
  Place place = at(cpus.first());
  for (const int cpu : cpus.cpus()) place = common(place, at(cpu));
  return place;
}

}  // namespace steelyard::loops
