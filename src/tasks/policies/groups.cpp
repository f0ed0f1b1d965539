// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>

#include "tasks/policies/policies.h"

namespace steelyard::tasks {
namespace {

template <class T>
std::vector<char> bytes_of(const T* items, std::size_t count) {
  const char* const first = reinterpret_cast<const char*>(items);
  return {first, first + count * sizeof(T)};
}

/// Only processes of a group give to each other, one task at a time. Groups are formed anew at the start of each run:
/// every process tells rank 0 how many tasks it has, and rank 0 tells every process the nodes of its group.
class Groups final : public Policy {
 public:
  explicit Groups(std::size_t size) : size_(size) {}

  std::unique_ptr<Overlay> overlay(std::int64_t nodes, int) const override {
    return std::make_unique<CompleteGraph>(nodes);
  }
  std::size_t amount(std::size_t, std::size_t, double) const override { return 1; }

  /// Rank 0 receives from every rank, and sends to every rank.
  std::size_t degree(const Host& host, const std::vector<int>& peers) const override {
    const RankPlacement& placement = host.placement();
    if (placement.nodes() == 1) return peers.size();
    if (host.rank() == 0) return static_cast<std::size_t>(placement.ranks()) - 1;
    return peers.size() + (std::ranges::find(peers, 0) == peers.end() ? 1 : 0);
  }

  void run_begins(Host& host) override {
    if (host.placement().nodes() == 1) return;
    host.ask_only({});
    // Tasks that others have already stolen count as well.
    const auto load = static_cast<double>(host.spawned_here() - spawned_before_);
    const std::vector<char> bytes = bytes_of(&load, 1);
    if (host.rank() == 0) {
      received(host, 0, host.current_run(), bytes.data(), bytes.size());
    } else {
      host.send(0, host.current_run(), bytes);
    }
  }
  void run_ends(Host& host) override { spawned_before_ = host.spawned_here(); }

  void received(Host& host, int from, std::uint64_t run, const char* bytes, std::size_t size) override {
    if (host.rank() == 0) {
      double load = 0;
      std::memcpy(&load, bytes, sizeof(load));
      add_load(host, from, run, load);
    } else if (run == host.current_run()) {  // otherwise that run is over
      std::vector<std::uint32_t> nodes(size / sizeof(std::uint32_t));
      std::memcpy(nodes.data(), bytes, size);
      host.ask_only(nodes);
    }
  }

 private:
  struct Loads {
    std::vector<double> by_node;
    int received = 0;
  };

  // Some ranks may be a run ahead of others, and a run may be over before its last load has arrived.
  void add_load(Host& host, int from, std::uint64_t run, double load) {
    const RankPlacement& placement = host.placement();
    Loads& loads = loads_[run];
    loads.by_node.resize(static_cast<std::size_t>(placement.nodes()));
    loads.by_node[static_cast<std::size_t>(placement.node(from))] += load;
    if (++loads.received < placement.ranks()) return;
    const std::vector<std::uint32_t> group_of = deal_into_groups(loads.by_node, size_);
    loads_.erase(run);
    if (run != host.current_run()) return;
    std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
    for (std::uint32_t node = 0; node < group_of.size(); ++node) groups[group_of[node]].push_back(node);
    const auto group_of_rank = [&](int rank) -> const std::vector<std::uint32_t>& {
      return groups[group_of[static_cast<std::size_t>(placement.node(rank))]];
    };
    host.ask_only(group_of_rank(0));
    for (int to = 1; to < placement.ranks(); ++to) {
      const std::vector<std::uint32_t>& nodes = group_of_rank(to);
      host.send(to, run, bytes_of(nodes.data(), nodes.size()));
    }
  }

  const std::size_t size_;
  std::map<std::uint64_t, Loads> loads_;  // at rank 0, by run
  std::uint64_t spawned_before_ = 0;      // the current run
};

}  // namespace

std::vector<std::uint32_t> deal_into_groups(const std::vector<double>& loads, std::size_t size) {
  std::vector<std::uint32_t> heaviest_first(loads.size()), group_of(loads.size());
  std::iota(heaviest_first.begin(), heaviest_first.end(), 0);
  std::ranges::stable_sort(heaviest_first, std::greater<>(), [&](std::uint32_t member) { return loads[member]; });
  const std::size_t groups = (loads.size() + size - 1) / size;
  for (std::size_t i = 0; i < heaviest_first.size(); ++i) {
    const std::size_t round = i / groups, place = i % groups;
    group_of[heaviest_first[i]] = static_cast<std::uint32_t>(round % 2 == 0 ? place : groups - 1 - place);
  }
  return group_of;
}

std::unique_ptr<Policy> groups_policy(int size) {
  return std::make_unique<Groups>(static_cast<std::size_t>(size > 0 ? size : kGroup));
}

}  // namespace steelyard::tasks
