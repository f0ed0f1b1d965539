// SPDX-License-Identifier: BSD-3-Clause
#include "partition/control_flow_graph.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "partition/jump_table.h"
#include "partition/known_functions.h"
#include "partition/proof.h"

namespace steelyard::partition {

namespace {

constexpr const char* kNotFollowed = "has a jump that cannot be followed";

using Edges = std::vector<std::vector<std::size_t>>;

/// Depth-first from `root`; calls `leave` for each node after all nodes that are reached through it.
template <class Leave>
void in_postorder(const Edges& edges, std::size_t root, const Leave& leave) {
  std::vector<std::pair<std::size_t, std::size_t>> path{{root, 0}};
  std::vector<bool> seen(edges.size());
  seen[root] = true;
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == edges[node].size()) {
      leave(node);
      path.pop_back();
    } else if (const std::size_t other = edges[node][next++]; !seen[other]) {
      seen[other] = true;
      path.emplace_back(other, 0);
    }
  }
}

}  // namespace

/// The nodes, numbered from 1 by their addresses, and the edges between them. 0 is the exit of the function.
struct ControlFlowGraph::Numbered {
  static constexpr std::uint64_t kExit = 0;  // Encoding: no instruction has this address

  explicit Numbered(std::map<std::uint64_t, Node>& all) {
    for (auto& [address, node] : all) {
      nodes.push_back(&node);
      addresses.push_back(address);
    }
    edges.resize(nodes.size());
    for (std::size_t n = 1; n < nodes.size(); ++n) {
      const Node& node = *nodes[n];
      for (const std::uint64_t next : node.successors) add_edge(n, next);
      if (node.landing_pad) add_edge(n, *node.landing_pad);
      if (node.instruction.is_in(CS_GRP_RET) || node.context.is_tail_jump) edges[n].push_back(0);
    }
  }
  std::size_t number(std::uint64_t address) const {
    return static_cast<std::size_t>(std::lower_bound(addresses.begin() + 1, addresses.end(), address) -
                                    addresses.begin());
  }
  /// No edge to a jump that merge_duplicated_jumps() has removed.
  void add_edge(std::size_t from, std::uint64_t to) {
    const std::size_t next = number(to);
    if (next < addresses.size() && addresses[next] == to) edges[from].push_back(next);
  }
  /// In reverse postorder, all ways to the reconvergence point of a jump come before that point.
  void order_from(std::uint64_t entry) {
    std::size_t order = nodes.size();
    in_postorder(edges, number(entry), [&](std::size_t node) {
      if (node != 0) nodes[node]->order = order--;
    });
  }

  std::vector<Node*> nodes{nullptr};
  std::vector<std::uint64_t> addresses{kExit};
  Edges edges;
};

bool ControlFlowGraph::build(std::uint64_t entry) {
  merge_points_.insert(entry);
  for (std::deque<std::uint64_t> open{entry}; !open.empty();) {
    if (!decode_from(open) || !follow_tables(entry, open)) return false;
  }
  if (queries_.empty()) return true;
  merge_duplicated_jumps(entry);
  find_kept_words();
  Numbered graph(nodes_);
  graph.order_from(entry);
  find_reconvergence(graph);
  for (auto& [address, node] : nodes_) {
    const auto next = node.successors.empty() ? nodes_.end() : nodes_.find(node.successors[0]);
    if (next != nodes_.end()) node.next = &next->second;
  }
  for (const std::uint64_t address : merge_points_) {
    if (const auto node = nodes_.find(address); node != nodes_.end()) node->second.is_merge_point = true;
  }
  return true;
}

std::size_t ControlFlowGraph::order(std::uint64_t address) const {
  const auto node = nodes_.find(address);
  return node != nodes_.end() ? node->second.order : 0;
}

bool ControlFlowGraph::fail(const char* reason) {
  reason_ = reason;
  return false;
}

/// Decodes all that can be reached from the addresses in `open`, until that is empty. Jump tables are not followed.
bool ControlFlowGraph::decode_from(std::deque<std::uint64_t>& open) {
  while (!open.empty()) {
    const std::uint64_t address = open.front();
    open.pop_front();
    if (nodes_.contains(address)) continue;
    instruction_ = address;
    if (nodes_.size() > kMostInstructions) return fail(kTooLong);
    const std::optional<Instruction> found = decoder_.at(image_, address);
    if (!found) return fail("has machine code that cannot be decoded");
    Node& node = nodes_.try_emplace(address).first->second;
    node.instruction = *found;
    if (!find_successors(node)) return false;
    for (const std::uint64_t next : node.successors) open.push_back(next);
    if (node.landing_pad) open.push_back(*node.landing_pad);
  }
  return true;
}

/// What is known of a jump table follows from the code before its jump. Code that is found through a table may lead
/// there as well: in the end, the targets of each table must be those that follow from all of the code.
/// @param open gets the targets that were not known before
bool ControlFlowGraph::follow_tables(std::uint64_t entry, std::deque<std::uint64_t>& open) {
  if (table_jumps_.empty()) return true;
  KnownCode code{[this](std::uint64_t address) { return point_at(address); }, {{entry, {KnownCode::kCaller}}}};
  for (const auto& [address, node] : nodes_) {
    for (const std::uint64_t next : node.successors) code.predecessors[next].push_back(address);
    if (node.landing_pad) code.predecessors[*node.landing_pad].push_back(address);
  }
  for (const std::uint64_t address : table_jumps_) {
    Node& jump = nodes_.at(address);
    std::vector<std::uint64_t> targets = targets_of_table(image_, code, jump.instruction, entry);
    instruction_ = address;
    if (targets.empty() || (!jump.successors.empty() && jump.successors != targets)) return fail(kNotFollowed);
    if (!jump.successors.empty()) continue;
    open.insert(open.end(), targets.begin(), targets.end());
    merge_points_.insert(targets.begin(), targets.end());
    jump.successors = std::move(targets);
  }
  return true;
}

bool ControlFlowGraph::find_successors(Node& node) {
  const Instruction& i = node.instruction;
  if (i.kind() == X86_INS_UD2 || i.kind() == X86_INS_HLT || i.is_in(CS_GRP_RET)) return true;
  if (i.is_in(CS_GRP_CALL)) return find_callee(node);
  if (i.is_in(CS_GRP_JUMP)) return find_jump_targets(node);
  node.successors.push_back(i.next());
  return true;
}

bool ControlFlowGraph::find_jump_targets(Node& node) {
  const Instruction& i = node.instruction;
  const std::optional<std::uint64_t> target = i.target();
  if (!target) {
    if (i.kind() != X86_INS_JMP) return fail(kNotFollowed);
    node.context.is_tail_jump = i.slot().has_value();
    if (node.context.is_tail_jump)
      node.context.callee.name = image_.imported(*i.slot());
    else
      table_jumps_.push_back(i.address());
    return true;
  }
  if (const auto slot = i.kind() == X86_INS_JMP ? slot_of_stub(image_, decoder_, *target) : std::nullopt) {
    node.context.callee.name = image_.imported(*slot);
    node.context.is_tail_jump = true;
    return true;
  }
  if (i.kind() != X86_INS_JMP) node.successors.push_back(i.next());
  node.successors.push_back(*target);
  merge_points_.insert(node.successors.begin(), node.successors.end());
  const Function &here = function_of(i.address()), &there = function_of(*target);
  has_tail_jump_ = has_tail_jump_ || (here.begin != there.begin && !there.is_part && !here.is_part);
  return true;
}

bool ControlFlowGraph::find_callee(Node& node) {
  const Instruction& i = node.instruction;
  Callee& callee = node.context.callee;
  std::optional<std::uint64_t> slot = i.slot();
  if (const auto target = i.target()) slot = slot_of_stub(image_, decoder_, *target);
  if (slot) {
    callee.name = image_.imported(*slot);
  } else if (const auto target = i.target()) {
    callee.is_imported = false;
    callee.registers = register_uses_.of(*target);
  }
  if (is_query(callee.name)) {
    callee.query = static_cast<int>(queries_.size());
    queries_.push_back(i.next());
  }
  const Function& function = function_of(i.address());
  if (!function.is_known) return fail("continues in a function that the unwind tables do not list");
  if (callee.name.find("setjmp") != std::string_view::npos) return fail("calls setjmp()");
  if (may_never_return(callee.name)) return fail("calls a function that may never return");
  for (const Function::Landing& landing : function.landings) {
    if (i.next() > landing.from && i.next() <= landing.to) node.landing_pad = landing.pad;
  }
  node.context.has_landing_pad = node.landing_pad.has_value();
  callee.is_pointer = !slot && !i.target();
  if (node.landing_pad) merge_points_.insert(*node.landing_pad);
  // A call that never returns may be a function's last instruction.
  const bool comes_back = callee.is_imported ? returns(callee.name) : callee.registers.returns;
  if (i.next() < function.end && comes_back) node.successors.push_back(i.next());
  return true;
}

/// The target of an unconditional jump at `address`; `address` itself if there is none.
std::uint64_t ControlFlowGraph::behind_jump(std::uint64_t address) const {
  const auto node = nodes_.find(address);
  const bool jumps = node != nodes_.end() && node->second.instruction.kind() == X86_INS_JMP;
  return jumps && node->second.instruction.target() && node->second.successors.size() == 1 ? node->second.successors[0]
                                                                                           : address;
}

/// gcc duplicates code up to a conditional jump to save a jump to it. Such jumps, of one condition with the same
/// targets, become one here, where the ways to them meet.
void ControlFlowGraph::merge_duplicated_jumps(std::uint64_t entry) {
  std::map<std::array<std::uint64_t, 3>, std::uint64_t> first;  // by condition and targets
  std::map<std::uint64_t, std::uint64_t> originals;             // by the addresses of their copies
  for (const auto& [address, node] : nodes_) {
    const auto condition = node.instruction.condition();
    if (!condition || node.successors.size() != 2) continue;
    const bool negated = (*condition & 1) != 0;
    const auto [original, is_new] =
        first.try_emplace({static_cast<unsigned>(*condition) / 2, behind_jump(node.successors[negated ? 0 : 1]),
                           behind_jump(node.successors[negated ? 1 : 0])},
                          address);
    if (is_new || address == entry) continue;
    originals[address] = original->second;
    merge_points_.insert(original->second);
  }
  for (const auto& [copy, original] : originals) nodes_.erase(copy);
  for (auto& [address, node] : nodes_) {
    for (std::uint64_t& next : node.successors) {
      if (const auto copy = originals.find(next); copy != originals.end()) next = copy->second;
    }
  }
}

CodePoint ControlFlowGraph::point_at(std::uint64_t address) const {
  const auto node = nodes_.find(address);
  return node != nodes_.end() ? CodePoint{&node->second.instruction, &node->second.successors} : CodePoint{};
}

void ControlFlowGraph::find_kept_words() {
  const auto find = [this](std::uint64_t address) { return point_at(address); };
  for (auto& [address, node] : nodes_) {
    if (node.instruction.is_in(CS_GRP_CALL) && node.context.callee.query < 0)
      node.context.kept_words = words_kept_over_call(node.instruction.next(), find);
  }
}

/// The reconvergence point of a jump is its immediate postdominator: the first instruction that all of its ways reach
/// (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"). Ways that end the program do not count.
void ControlFlowGraph::find_reconvergence(const Numbered& graph) {
  Edges from(graph.edges.size());
  for (std::size_t node = 0; node < graph.edges.size(); ++node) {
    for (const std::size_t next : graph.edges[node]) from[next].push_back(node);
  }
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> postorder;  // of the reversed graph: from the entry to the exit
  std::vector<std::size_t> position(from.size(), kNone), postdominator(from.size(), kNone);
  in_postorder(from, 0, [&](std::size_t node) {
    position[node] = postorder.size();  // the exit has the highest
    postorder.push_back(node);
  });
  postdominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto node = std::next(postorder.rbegin()); node != postorder.rend(); ++node) {
      std::size_t common = kNone;
      for (const std::size_t next : graph.edges[*node]) {
        if (postdominator[next] == kNone) continue;
        std::size_t a = next, b = common == kNone ? next : common;
        while (a != b) position[a] < position[b] ? a = postdominator[a] : b = postdominator[b];
        common = a;
      }
      changed = changed || postdominator[*node] != common;
      postdominator[*node] = common;
    }
  }
  for (std::size_t n = 1; n < postdominator.size(); ++n) {
    Node& node = *graph.nodes[n];
    if (node.successors.size() < 2 || postdominator[n] == kNone) continue;
    node.context.reconvergence = graph.addresses[postdominator[n]];
    merge_points_.insert(node.context.reconvergence);
  }
}

const Function& ControlFlowGraph::function_of(std::uint64_t address) {
  for (const Function& known : functions_) {
    if (address >= known.begin && address < known.end) return known;
  }
  return functions_.emplace_back(image_.function_at(address));
}

}  // namespace steelyard::partition
