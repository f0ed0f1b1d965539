// SPDX-License-Identifier: BSD-3-Clause
#include "partition/proof.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "partition/control_flow_graph.h"
#include "partition/findings.h"
#include "partition/instruction.h"
#include "partition/state.h"
#include "partition/transfer.h"

namespace steelyard::partition {

namespace {

// Code in loops is interpreted again until its states no longer change: a few times each.
constexpr std::size_t kMostVisits = 4 * std::size_t{kMostInstructions};
constexpr std::size_t kWordsOfAVisit = 16;  // joining as many words takes about as long as an instruction

/// The abstract interpretation of one function.
class Interpretation {
 public:
  /// @param is_body the function is the body of a region
  Interpretation(const ControlFlowGraph& graph, bool is_body) : graph_(graph), is_body_(is_body) {}

  /// Propagates states until they no longer change; then checks what each instruction does.
  Findings run(std::uint64_t entry) {
    propagate(entry, State::at_entry(is_body_), entry);
    std::size_t visits = 0;
    while (!worklist_.empty()) {
      const std::uint64_t from = worklist_.begin()->second;
      worklist_.erase(worklist_.begin());
      visits += interpret_block(from, nullptr) * (1 + states_.at(from).words.size() / kWordsOfAVisit);
      if (visits > kMostVisits) break;
    }
    Findings findings;
    if (!worklist_.empty()) {
      findings.add(0, kTooLong, entry);
      return findings;
    }
    for (const auto& [from, state] : states_) interpret_block(from, &findings);
    findings.check_unread_words();
    if (repeated_ != 0) findings.add(repeated_, "repeats code as often as the thread ID or the team size says", entry);
    return findings;
  }

 private:
  /// Joins a state into that of a merge point; if that changes, the block there is interpreted again.
  /// @param from the instruction before it, or the divergent branch that reconverges here
  void propagate(std::uint64_t address, State state, std::uint64_t from) {
    for (const auto& [jump, branch] : state.divergent_branches) {
      if (branch.reconvergence != address) continue;
      std::map<std::uint64_t, State>& ends = ends_[jump];
      const std::uint64_t reconverging = jump;
      ends[from] = std::move(state);
      return propagate(address, after_reconvergence(ends, reconverging), reconverging);
    }
    std::map<std::uint64_t, State>& ways = incoming_[address];
    const auto [end, is_first] = ways.try_emplace(from, std::move(state));
    if (!is_first && end->second == state) return;
    if (!is_first) end->second = std::move(state);
    State all = ways.begin()->second;
    for (auto way = std::next(ways.begin()); way != ways.end(); ++way) {
      State other = way->second;
      note_repeated_code(all, other);
      name_divisions(all, other, address);
      all = joined(all, other);
    }
    const auto [known, is_new] = states_.try_emplace(address, all);
    if (!is_new && all == known->second) return;
    known->second = std::move(all);
    worklist_.insert({graph_.order(address), address});
  }

  /// One of the ways comes from inside of a divergent branch and leads back to before it. How often the code between is
  /// executed depends on the thread, and values computed there differ between threads.
  void note_repeated_code(const State& a, const State& b) {
    for (const auto& [one, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      for (const auto& [jump, branch] : one->divergent_branches) {
        if (!other->divergent_branches.contains(jump)) repeated_ |= branch.sources;
      }
    }
  }

  /// Interprets the instructions from a merge point to the next ones. With `findings`, it checks them and propagates
  /// nothing.
  /// @return the number of instructions
  std::size_t interpret_block(std::uint64_t from, Findings* findings) {
    const auto first = graph_.nodes().find(from);
    if (first == graph_.nodes().end()) return 1;
    State state = states_.at(from);
    const ControlFlowGraph::Node* node = &first->second;
    for (std::size_t count = 1;; ++count) {
      const std::uint64_t address = node->instruction.address();
      std::optional<State> jumped;
      if (node->successors.size() > 1) jumped = state;
      const bool returns_nothing = is_body_ && !graph_.has_tail_jump();
      TransferFunction(node->instruction, node->context, returns_nothing, findings)
          .apply(state, jumped ? &*jumped : nullptr);
      if (findings != nullptr) {
        findings->check_words(state, address);
      } else {
        if (node->landing_pad) propagate(*node->landing_pad, state, address);
        for (std::size_t way = 1; way < node->successors.size(); ++way)
          propagate(node->successors[way], *jumped, address);
      }
      node = node->next;
      if (node == nullptr) return count;
      if (node->is_merge_point) {
        if (findings == nullptr) propagate(node->instruction.address(), std::move(state), address);
        return count;
      }
    }
  }

  using StatesByAddress = std::map<std::uint64_t, State>;

  const ControlFlowGraph& graph_;
  bool is_body_;
  StatesByAddress states_;                             // at each merge point
  std::map<std::uint64_t, StatesByAddress> incoming_;  // at each merge point, by the instruction before it
  std::map<std::uint64_t, StatesByAddress> ends_;      // of each divergent branch: the states in which its ways end
  /// Merge points to interpret from, in Node::order: first those that lead to others.
  std::set<std::pair<std::size_t, std::uint64_t>> worklist_;
  std::uint64_t repeated_ = 0;  // queries on which it depends how often code is repeated
};

}  // namespace

Proof prove(const Image& image, std::uint64_t address, std::uint64_t body) {
  Proof proof;
  const Function function = image.function_at(address);
  proof.instruction = address;
  if (!function.is_known || function.is_part) {
    proof.reason = function.is_known ? "is a part that the compiler has split off a function"
                                     : "is not listed in the unwind tables";
    return proof;
  }
  static const Decoder& decoder = *new Decoder;  // never destroyed: other threads may use it while the process ends
  ControlFlowGraph graph(image, decoder);
  const bool is_complete = graph.build(function.begin);
  proof.reason = graph.reason();
  proof.instruction = graph.instruction();
  for (const std::uint64_t query : graph.queries()) proof.queries.push_back({query, false});
  if (!is_complete || proof.queries.empty()) return proof;
  const Findings findings = Interpretation(graph, function.begin == body).run(function.begin);
  for (std::size_t n = 0; n < proof.queries.size(); ++n)
    proof.queries[n].proved = (findings.unproved >> std::min<std::size_t>(n, 63) & 1) == 0;
  proof.reason = findings.reason;
  proof.instruction = findings.instruction;
  return proof;
}

}  // namespace steelyard::partition
