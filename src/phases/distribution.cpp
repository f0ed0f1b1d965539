// SPDX-License-Identifier: BSD-3-Clause
#include "phases/distribution.h"

#include <algorithm>

namespace steelyard::phases {
namespace {

struct Plan {
  Distribution& made;
  std::vector<std::vector<int>> leaders;  // by resource

  // `count` of the candidates work, evenly spaced; each also for those up to the next.
  void choose_spaced(const std::vector<int>& candidates, int count, const std::vector<int>& resources) {
    const auto all = static_cast<int>(candidates.size());
    for (int place = 0; place < count; ++place) {
      const int begin = place * all / count, end = (place + 1) * all / count;
      const int leader = candidates[static_cast<std::size_t>(begin)];
      const int resource = resources[static_cast<std::size_t>(place)];
      leaders[static_cast<std::size_t>(resource)].push_back(leader);
      for (int i = begin; i < end; ++i) assign(candidates[static_cast<std::size_t>(i)], leader, resource);
    }
  }

  void assign(int process, int leader, int resource) {
    made.leader[static_cast<std::size_t>(process)] = leader;
    made.resource[static_cast<std::size_t>(process)] = resource;
  }
};

// The resources to which `count` more processes are assigned, each to the one with the fewest processes, at most
// `max_processes` for each resource; in ascending order.
std::vector<int> fill(const std::vector<std::vector<int>>& leaders, int max_processes, int count) {
  std::vector<int> sizes, places;
  for (const auto& there : leaders) sizes.push_back(static_cast<int>(there.size()));
  while (static_cast<int>(places.size()) < count) {
    const auto least = std::ranges::min_element(sizes);
    if (*least >= max_processes) break;
    ++*least;
    places.push_back(static_cast<int>(least - sizes.begin()));
  }
  std::ranges::sort(places);
  return places;
}

}  // namespace

std::vector<int> Distribution::chosen() const {
  std::vector<int> all;
  for (int process = 0; process < static_cast<int>(leader.size()); ++process) {
    if (chosen(process)) all.push_back(process);
  }
  return all;
}

std::vector<int> Distribution::members(int of) const {
  std::vector<int> all;
  for (int process = 0; process < static_cast<int>(leader.size()); ++process) {
    if (leader[static_cast<std::size_t>(process)] == of) all.push_back(process);
  }
  return all;
}

Distribution distribute(const Machine& machine, const std::vector<CpuSet>& masks, Resource resource,
                        int max_processes) {
  Distribution made{std::vector<int>(masks.size(), 0), std::vector<int>(masks.size(), -1)};
  const auto resources = static_cast<std::size_t>(machine.count(resource));
  Plan plan{made, std::vector<std::vector<int>>(resources)};

  std::vector<std::vector<int>> bound(resources);
  std::vector<int> unbound;
  for (std::size_t process = 0; process < masks.size(); ++process) {
    const int holder = machine.holder(resource, masks[process]);
    (holder < 0 ? unbound : bound[static_cast<std::size_t>(holder)]).push_back(static_cast<int>(process));
  }
  for (std::size_t index = 0; index < resources; ++index) {
    auto& here = bound[index];
    std::ranges::stable_sort(here, {}, [&](int process) { return masks[static_cast<std::size_t>(process)].first(); });
    const int count = std::min(max_processes, static_cast<int>(here.size()));
    plan.choose_spaced(here, count, std::vector<int>(static_cast<std::size_t>(count), static_cast<int>(index)));
  }
  if (unbound.empty()) return made;

  const std::vector<int> free_places = fill(plan.leaders, max_processes, static_cast<int>(unbound.size()));
  if (!free_places.empty()) {
    plan.choose_spaced(unbound, static_cast<int>(free_places.size()), free_places);
    return made;
  }
  // Every place is taken by a bound process: the unbound ones go to the smallest groups, neighbours to the same.
  std::vector<int> leaders = made.chosen();
  std::vector<int> sizes, helpers;
  for (const int leader : leaders) sizes.push_back(static_cast<int>(made.members(leader).size()));
  for (std::size_t i = 0; i < unbound.size(); ++i) {
    const auto least = std::ranges::min_element(sizes);
    ++*least;
    helpers.push_back(leaders[static_cast<std::size_t>(least - sizes.begin())]);
  }
  std::ranges::sort(helpers);
  for (std::size_t i = 0; i < unbound.size(); ++i) {
    plan.assign(unbound[i], helpers[i], made.resource[static_cast<std::size_t>(helpers[i])]);
  }
  return made;
}

int threads_of(int cores, int sharing, int place) {
  return std::max(1, cores / sharing + (place < cores % sharing ? 1 : 0));
}

}  // namespace steelyard::phases
