#include "observe/late_in_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "observe/text.h"

namespace steelyard::observe {
namespace {

constexpr std::size_t kTold = 4;  // trees

/// Late to at least every fourth of the broadcasts that were taken over.
bool often_late(const Broadcasts& b) { return b.late > 0 && 4 * b.late >= b.shared + b.tree; }

/// Ranks in time that get the data through one that is not. Who stands at a position gets them from the one without its
/// lowest bit.
long waiting(const std::vector<int>& order, const std::set<int>& late) {
  std::vector<bool> held(order.size());
  long found = 0;
  for (std::size_t position = 1; position < order.size(); ++position) {
    const std::size_t above = position & (position - 1);
    held[position] = held[above] || (above != 0 && late.contains(order[above]));
    found += held[position] && !late.contains(order[position]) ? 1 : 0;
  }
  return found;
}

struct Standing {
  std::size_t nodes = 0;
  std::vector<int> late;              // ascending
  std::vector<int> led, now_leading;  // late ranks that led their node at first, and who does in their place
  long waiting_first = 0, waiting_last = 0;
  bool changed = false;
};

Standing standing(const Tree& tree, const std::set<int>& often, const std::map<int, int>& nodes) {
  const auto node_of = [&](int rank) {
    const auto found = nodes.find(rank);
    return found == nodes.end() ? -1 - rank : found->second;
  };
  std::vector<int> first = tree.first;
  if (!first.empty() && !tree.last.empty()) {
    // Whoever is root stands at 0, and the one whose place that is in the root's: both with the root of the last plan.
    const auto root =
        std::ranges::find_if(first, [&](int rank) { return node_of(rank) == node_of(tree.last.front()); });
    if (root != first.end()) std::swap(first.front(), *root);
  }
  std::set<int> late;
  for (const std::vector<int>* order : {&std::as_const(first), &tree.last}) {
    for (const int rank : *order) {
      if (often.contains(rank)) late.insert(rank);
    }
  }
  for (const std::vector<int>* order : {&std::as_const(first), &tree.last}) {
    if (!order->empty()) late.erase(order->front());
  }
  Standing found{first.size(), {late.begin(), late.end()}};
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
  found.waiting_first = waiting(first, late);
  found.waiting_last = waiting(tree.last, late);
  found.changed = first != tree.last;
  return found;
}

std::string sentence(const Standing& tree) {
  const std::string size = "tree of " + plural(static_cast<long>(tree.nodes), "node");
  if (tree.late.empty()) return size + ": its order changed, but nobody came late to every fourth broadcast";
  std::string text = fmt::format(
      "{}: {} came late; {} in time got the data through {} at first, {} at last", size, rank_list(tree.late),
      tree.waiting_first > 0 ? plural(tree.waiting_first, "rank") : "none", tree.late.size() == 1 ? "it" : "them",
      tree.waiting_last > 0 ? fmt::format("{}", tree.waiting_last) : "none");
  if (!tree.led.empty()) {
    text += fmt::format("; {} {} in the place of {}", rank_list(tree.now_leading),
                        tree.now_leading.size() == 1 ? "leads" : "lead", rank_list(tree.led));
  }
  return text;
}

}  // namespace

std::vector<std::string> late_in_trees(const RunRecord& record) {
  std::set<int> often;
  std::map<int, int> nodes;
  for (const RankRecord& rank : record.ranks) {
    nodes[rank.rank] = rank.node;
    if (often_late(rank.broadcasts)) often.insert(rank.rank);
  }
  std::vector<Standing> all;
  for (const Tree& tree : record.trees) all.push_back(standing(tree, often, nodes));
  const auto others =
      std::ranges::stable_partition(all, [](const Standing& tree) { return !tree.late.empty() || tree.changed; });
  const std::size_t shown = all.size() - others.size();
  std::ranges::stable_sort(all.begin(), others.begin(), std::ranges::less{},
                           [](const Standing& tree) { return std::pair(tree.late.empty(), -tree.waiting_first); });
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < std::min(shown, kTold); ++i) sentences.push_back(sentence(all[i]));
  if (shown > kTold) {
    sentences.push_back(plural(static_cast<long>(shown - kTold), "more tree") + " with late ranks or another order");
  }
  if (!others.empty()) {
    sentences.push_back(plural(static_cast<long>(others.size()), "tree") +
                        " in which nobody came late to every fourth broadcast, and nobody moved");
  }
  return sentences;
}

}  // namespace steelyard::observe
