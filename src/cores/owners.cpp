// SPDX-License-Identifier: BSD-3-Clause
#include "cores/owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace steelyard::cores {
namespace {

// PUs of the affinity mask in the order in which they are taken: the first of each core, then the second ones.
std::vector<int> candidates(const node::Topology& topology, const node::CpuSet& mask) {
  std::set<int> cores;
  std::vector<int> first, rest;
  for (int pu = 0; pu < static_cast<int>(topology.pus.size()); ++pu) {
    if (!topology.emulated && !mask.has(topology.pus[pu].os_index)) continue;
    (cores.insert(topology.pus[pu].core).second ? first : rest).push_back(pu);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

std::set<int> union_of(const std::vector<std::vector<int>>& sets) {
  std::set<int> all;
  for (const auto& set : sets) all.insert(set.begin(), set.end());
  return all;
}

bool overlap(const std::vector<std::vector<int>>& sets) {
  std::set<int> seen;
  for (const auto& set : sets) {
    for (const int pu : set) {
      if (!seen.insert(pu).second) return true;
    }
  }
  return false;
}

int cores_of(const node::Topology& topology, const std::vector<int>& pus) {
  std::set<int> cores;
  for (const int pu : pus) cores.insert(topology.pus[pu].core);
  return static_cast<int>(cores.size());
}

// Processes with one affinity mask share its cores evenly if their thread counts are the runtime's guess, which is the
// number of its CPUs for each.
void share_guesses(const node::Topology& topology, const std::vector<Arrival>& arrivals,
                   const std::vector<std::vector<int>>& places, std::vector<int>& threads) {
  std::map<std::vector<int>, std::vector<int>> by_mask;
  for (std::size_t p = 0; p < arrivals.size(); ++p) {
    if (!arrivals[p].threads_chosen) by_mask[places[p]].push_back(static_cast<int>(p));
  }
  for (const auto& [pus, processes] : by_mask) {
    const int count = static_cast<int>(processes.size());
    const int cores = cores_of(topology, pus);
    for (int i = 0; i < count; ++i) {
      const int share = std::max(1, cores / count + (i < cores % count ? 1 : 0));
      threads[processes[i]] = std::min(threads[processes[i]], share);
    }
  }
}

/// What exceeds the number of cores.
struct Oversubscription {
  std::string what;     ///< "ranks" or "threads"
  std::string message;  ///< with what to do
};

// Says why process p has fewer cores than threads.
Oversubscription oversubscription(const node::Topology& topology, const std::vector<Arrival>& arrivals,
                                  const std::vector<std::vector<int>>& places, const std::vector<int>& threads, int p) {
  std::vector<int> pus;
  int sharing = 0, threads_in_all = 0;
  for (std::size_t other = 0; other < places.size(); ++other) {
    if (static_cast<int>(other) != p && !overlap({places[p], places[other]})) continue;
    pus.insert(pus.end(), places[other].begin(), places[other].end());
    ++sharing;
    threads_in_all += threads[other];
  }
  const int cores = cores_of(topology, pus);
  const std::string those = fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
  if (sharing > cores && sharing > 1) {
    return {"ranks",
            fmt::format("more ranks than cores: {} ranks share {}; start fewer ranks or use a wider CPU binding",
                        sharing, those)};
  }
  const std::string advice = "use fewer threads (OMP_NUM_THREADS), fewer ranks or a wider CPU binding";
  if (sharing > 1) {
    return {"threads", fmt::format("more threads than cores: {} ranks with {} threads in all share {}; {}", sharing,
                                   threads_in_all, those, advice)};
  }
  return {"threads", fmt::format("more threads than cores: rank {} runs {} thread{}, and its affinity mask has {}; {}",
                                 arrivals[p].rank, threads[p], threads[p] == 1 ? "" : "s", those, advice)};
}

// Only if the kernel can put each thread on each core. A process has no use for more slots than there are cores.
std::vector<int> slots_of(const std::vector<Arrival>& arrivals, const std::vector<std::vector<int>>& places,
                          int cores) {
  const auto apart = [&](const std::vector<int>& pus) { return pus != places.front(); };
  const auto wide = [&](const Arrival& arrival) { return arrival.threads >= cores; };
  if (arrivals.size() < 2 || std::ranges::any_of(places, apart) || std::ranges::all_of(arrivals, wide)) return {};
  std::vector<int> slots;
  for (std::size_t p = 0; p < arrivals.size(); ++p)
    slots.insert(slots.end(), static_cast<std::size_t>(std::clamp(arrivals[p].threads, 1, cores)), static_cast<int>(p));
  return slots;
}

}  // namespace

Owners share_out(const node::Topology& topology, const std::vector<Arrival>& arrivals) {
  const int processes = static_cast<int>(arrivals.size());
  Owners owners;
  owners.owner.assign(topology.pus.size(), -1);
  std::vector<std::vector<int>> places;
  for (const Arrival& arrival : arrivals) {
    places.push_back(candidates(topology, arrival.mask));
    owners.threads.push_back(std::max(1, arrival.threads));
  }
  owners.masks_overlap = overlap(places);
  if (owners.masks_overlap) share_guesses(topology, arrivals, places, owners.threads);

  for (int p = 0; p < processes; ++p) {
    int wanted = owners.threads[p];
    for (const int pu : places[p]) {
      if (wanted == 0) break;
      if (owners.owner[pu] != -1) continue;
      owners.owner[pu] = p;
      --wanted;
    }
    if (wanted > 0 && owners.immovable_reason.empty()) {
      auto [what, message] = oversubscription(topology, arrivals, places, owners.threads, p);
      owners.oversubscribed = std::move(what);
      owners.immovable_reason = std::move(message);
    }
  }
  std::set<int> cores;
  const std::set<int> seen = union_of(places);
  for (int pu = 0; pu < static_cast<int>(topology.pus.size()); ++pu) {
    const bool first = seen.contains(pu) && cores.insert(topology.pus[pu].core).second;
    owners.usable.push_back(first || owners.owner[pu] >= 0);
  }
  owners.cores = static_cast<int>(cores.size());
  if (!owners.immovable_reason.empty() && owners.cores > 0) owners.slots = slots_of(arrivals, places, owners.cores);
  return owners;
}

std::vector<int> owners_after(const std::vector<int>& owner, const std::vector<bool>& usable,
                              const std::vector<int>& domain, const Plan& plan) {
  std::vector<int> after(owner.size(), -1);
  std::vector<int> wanted = plan.threads;
  const auto suits = [&](std::size_t core, int process) {
    return usable[core] && (plan.domain[process] < 0 || domain[core] == plan.domain[process]);
  };
  for (std::size_t core = 0; core < owner.size(); ++core) {
    const int process = owner[core];
    if (process < 0 || wanted[process] == 0 || !suits(core, process)) continue;
    after[core] = process;
    --wanted[process];
  }
  for (int process = 0; process < static_cast<int>(wanted.size()); ++process) {
    for (std::size_t core = 0; core < owner.size() && wanted[process] > 0; ++core) {
      if (after[core] != -1 || !suits(core, process)) continue;
      after[core] = process;
      --wanted[process];
    }
  }
  return after;
}

}  // namespace steelyard::cores
