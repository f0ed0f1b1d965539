// SPDX-License-Identifier: BSD-3-Clause
#include "observe/late_in_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "observe/text.h"

namespace steelyard::observe {
namespace {

/// Whether the rank was late to at least this share of the broadcasts that were taken over.
bool often_late(const Broadcasts& b, double share) {
  return b.late > 0 && static_cast<double>(b.late) >= share * static_cast<double>(b.shared + b.tree);
}

using Lateness = std::map<int, double>;  // s, by rank, of those that are late

double lateness(const Lateness& late, int rank) {
  const auto found = late.find(rank);
  return found == late.end() ? 0 : found->second;
}

/// Ranks that receive the data through a rank that is more than `ratio` times as late as they are. In a binomial tree,
/// a position receives from the position without its lowest set bit. No rank waits for the root's arrival, so it is
/// never late.
long held_up(const std::vector<int>& order, const Lateness& late, double ratio) {
  std::vector<double> worst(order.size());
  long found = 0;
  for (std::size_t position = 1; position < order.size(); ++position) {
    const std::size_t above = position & (position - 1);
    worst[position] = std::max(worst[above], above != 0 ? lateness(late, order[above]) : 0);
    found += worst[position] > ratio * lateness(late, order[position]) ? 1 : 0;
  }
  return found;
}

struct Standing {
  std::size_t nodes = 0;
  Lateness late;
  std::vector<int> led, now_leading;  // late ranks that led their node at first, and the ranks that lead it now
  long held_first = 0, held_last = 0;
  bool changed = false;
};

Standing standing(const Tree& tree, const Lateness& often, const std::map<int, int>& nodes, double ratio) {
  const auto node_of = [&](int rank) {
    const auto found = nodes.find(rank);
    return found == nodes.end() ? -1 - rank : found->second;
  };
  std::vector<int> first = tree.first;
  if (!first.empty() && !tree.last.empty()) {
    // The root takes position 0, and the rank of position 0 takes the root's. Both orders use the root of the last
    // plan.
    const auto root =
        std::ranges::find_if(first, [&](int rank) { return node_of(rank) == node_of(tree.last.front()); });
    if (root != first.end()) std::swap(first.front(), *root);
  }
  Lateness late;
  for (const std::vector<int>* order : {&std::as_const(first), &tree.last}) {
    for (const int rank : *order) {
      if (const auto found = often.find(rank); found != often.end()) late.insert(*found);
    }
  }
  for (const std::vector<int>* order : {&std::as_const(first), &tree.last}) {
    if (!order->empty()) late.erase(order->front());
  }
  Standing found;
  found.nodes = first.size();
  found.late = late;
  std::map<int, int> leader;
  for (const int rank : tree.last) leader[node_of(rank)] = rank;
  for (const int rank : first) {
    const auto now = leader.find(node_of(rank));
    if (!late.contains(rank) || now == leader.end() || now->second == rank) continue;
    found.led.push_back(rank);
    found.now_leading.push_back(now->second);
  }
  std::ranges::sort(found.led);
  std::ranges::sort(found.now_leading);
  found.held_first = held_up(first, late, ratio);
  found.held_last = held_up(tree.last, late, ratio);
  found.changed = first != tree.last;
  return found;
}

std::string sentence(const Standing& tree, double share) {
  const std::string size = "tree of " + plural(static_cast<long>(tree.nodes), "node");
  if (tree.late.empty())
    return fmt::format("{}: its order changed, but no rank was late to {} of its broadcasts", size, percent(share));
  std::vector<int> late;
  for (const auto& [rank, by] : tree.late) late.push_back(rank);
  const auto [worst, by] =
      *std::ranges::max_element(tree.late, std::ranges::less{}, &Lateness::value_type::second);  // the first of equals
  std::string text = fmt::format(
      "{}: {} {} late{} by {}; {} delayed {} at first, {} at last", size, rank_list(late),
      late.size() == 1 ? "was" : "were", late.size() == 1 ? "" : fmt::format(", rank {} most,", worst), duration(by),
      late.size() == 1 ? "it" : "they", tree.held_first > 0 ? plural(tree.held_first, "rank") : "no rank",
      tree.held_last > 0 ? fmt::format("{}", tree.held_last) : "none");
  if (!tree.led.empty()) {
    text += fmt::format("; {} {} instead of {}", rank_list(tree.now_leading),
                        tree.now_leading.size() == 1 ? "leads its node" : "lead their nodes", rank_list(tree.led));
  }
  return text;
}

}  // namespace

std::vector<std::string> late_in_trees(const RunRecord& record) {
  Lateness often;
  std::map<int, int> nodes;
  for (const RankRecord& rank : record.ranks) {
    nodes[rank.rank] = rank.node;
    const Broadcasts& b = rank.broadcasts;
    if (often_late(b, record.thresholds.late_share)) often[rank.rank] = b.behind / static_cast<double>(b.late);
  }
  std::vector<Standing> all;
  for (const Tree& tree : record.trees) all.push_back(standing(tree, often, nodes, record.thresholds.late_ratio));
  const auto others =
      std::ranges::stable_partition(all, [](const Standing& tree) { return !tree.late.empty() || tree.changed; });
  const std::size_t shown = all.size() - others.size();
  std::ranges::stable_sort(all.begin(), others.begin(), std::ranges::less{},
                           [](const Standing& tree) { return std::pair(tree.late.empty(), -tree.held_first); });
  std::vector<std::string> sentences;
  const auto most = static_cast<std::size_t>(std::max(record.thresholds.described_trees, 0));
  for (std::size_t i = 0; i < std::min(shown, most); ++i)
    sentences.push_back(sentence(all[i], record.thresholds.late_share));
  if (shown > most) {
    sentences.push_back(plural(static_cast<long>(shown - most), "more tree") + " with late ranks or another order");
  }
  if (!others.empty()) {
    sentences.push_back(fmt::format("{}: no rank was late to {} of its broadcasts, and no rank moved",
                                    plural(static_cast<long>(others.size()), "tree"),
                                    percent(record.thresholds.late_share)));
  }
  return sentences;
}

std::vector<std::string> plans_by_soga(const RunRecord& record) {
  if (option_of(record, "collectives-tree") != "soga" || option_of(record, "collectives") == "off") return {};
  Tree sum;
  std::vector<int> optimisers;  // of trees with fewer plans than periods
  const long period = std::max(1L, std::atol(option_of(record, "collectives-tree-every").c_str()));
  for (const Tree& tree : record.trees) {
    sum.broadcasts += tree.broadcasts;
    sum.plans += tree.plans;
    sum.changes += tree.changes;
    if (tree.plans < tree.broadcasts / period) optimisers.push_back(tree.optimiser);
  }
  if (sum.broadcasts == 0) {
    return {"tree of soga: not used, because the ranks are on one node, or each communicator had too few broadcasts"};
  }
  std::string text = fmt::format("tree of soga: optimised {} in {}, order changed {}", plural(sum.plans, "time"),
                                 plural(sum.broadcasts, "broadcast"), plural(sum.changes, "time"));
  if (!optimisers.empty()) {
    std::ranges::sort(optimisers);
    optimisers.erase(std::ranges::unique(optimisers).begin(), optimisers.end());
    text += fmt::format("; {} {} it, but only in broadcasts of its own of at most 1 MiB", rank_list(optimisers),
                        optimisers.size() == 1 ? "optimises" : "optimise");
  }
  return {text};
}

}  // namespace steelyard::observe
