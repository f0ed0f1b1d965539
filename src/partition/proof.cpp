// SPDX-License-Identifier: BSD-3-Clause
#include "partition/proof.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "partition/instruction.h"
#include "partition/jump_table.h"
#include "partition/register_use.h"
#include "partition/stack_arguments.h"
#include "partition/step.h"

namespace steelyard::partition {

namespace {

// Loops are visited again until nothing changes: a few times each.
constexpr std::size_t kMostVisits = 4 * std::size_t{kMostInstructions};
constexpr std::size_t kWordsOfAVisit = 16;  // joining as many words takes about as long as an instruction
constexpr std::uint64_t kExit = 0;          // Encoding: of a function; no instruction has this address
constexpr const char* kNotFollowed = "has a jump that cannot be followed";

/// The instructions that can be reached from a function's entry, and where ways meet.
class Course {
 public:
  Course(const Image& image, const Decoder& decoder)
      : image_(image), decoder_(decoder), register_uses_(image, decoder) {}

  struct Step {
    Instruction instruction;
    std::vector<std::uint64_t> to;     ///< the next ones: first the one after it, then those it jumps to
    std::optional<std::uint64_t> pad;  ///< where an exception of this call lands
    Surroundings around;
    const Step* next = nullptr;  ///< the first of `to`
    bool is_meeting = false;     ///< ways meet before it
    std::size_t rank =
        0;  ///< smaller than that of the instructions that follow it, unless the way to them is a jump back
  };

  /// False where some way cannot be followed, with the reason.
  bool follow(std::uint64_t entry, std::string& reason, std::uint64_t& where) {
    meets_.insert(entry);
    for (std::deque<std::uint64_t> open{entry}; !open.empty();) {
      if (!decode(open, reason, where) || !follow_tables(entry, open, reason, where)) return false;
    }
    if (queries_.empty()) return true;
    merge_jumps(entry);
    find_kept_words();
    const Graph graph(*this);
    order_ways(graph, entry);
    find_meetings(graph);
    for (auto& [address, step] : steps_) {
      const auto next = step.to.empty() ? steps_.end() : steps_.find(step.to[0]);
      if (next != steps_.end()) step.next = &next->second;
    }
    for (const std::uint64_t address : meets_) {
      if (const auto step = steps_.find(address); step != steps_.end()) step->second.is_meeting = true;
    }
    return true;
  }

  const std::map<std::uint64_t, Step>& steps() const { return steps_; }
  /// Return addresses of its queries, as they are numbered.
  const std::vector<std::uint64_t>& queries() const { return queries_; }
  std::size_t rank(std::uint64_t address) const {
    const auto step = steps_.find(address);
    return step != steps_.end() ? step->second.rank : 0;
  }
  /// True if it jumps into another function, to return from there.
  bool goes_on_elsewhere() const { return goes_on_elsewhere_; }

 private:
  /// All that can be reached from `open`, which is empty then, but for ways through tables that are not known so far.
  bool decode(std::deque<std::uint64_t>& open, std::string& reason, std::uint64_t& where) {
    while (!open.empty()) {
      const std::uint64_t address = open.front();
      open.pop_front();
      if (steps_.contains(address)) continue;
      where = address;
      if (steps_.size() > kMostInstructions) return reason = kTooLong, false;
      const std::optional<Instruction> found = decoder_.at(image_, address);
      if (!found) return reason = "has machine code that cannot be decoded", false;
      Step& step = steps_.try_emplace(address).first->second;
      step.instruction = *found;
      if (!find_ways(step, reason)) return false;
      for (const std::uint64_t next : step.to) open.push_back(next);
      if (step.pad) open.push_back(*step.pad);
    }
    return true;
  }

  /// What is known of a table depends on the code before its jump. Code that is found behind a table may lead there as
  /// well: in the end the ways of all tables must be those that follow from all of the code.
  /// @param open gets the ways that were not known before
  bool follow_tables(std::uint64_t entry, std::deque<std::uint64_t>& open, std::string& reason, std::uint64_t& where) {
    if (table_jumps_.empty()) return true;
    KnownCode code{[this](std::uint64_t address) { return following(address); }, {{entry, {KnownCode::kCaller}}}};
    for (const auto& [address, step] : steps_) {
      for (const std::uint64_t next : step.to) code.before[next].push_back(address);
      if (step.pad) code.before[*step.pad].push_back(address);
    }
    for (const std::uint64_t address : table_jumps_) {
      Step& jump = steps_.at(address);
      std::vector<std::uint64_t> ways = ways_through_table(image_, code, jump.instruction, entry);
      where = address;
      if (ways.empty() || (!jump.to.empty() && jump.to != ways)) return reason = kNotFollowed, false;
      if (!jump.to.empty()) continue;
      open.insert(open.end(), ways.begin(), ways.end());
      meets_.insert(ways.begin(), ways.end());
      jump.to = std::move(ways);
    }
    return true;
  }

  bool find_ways(Step& step, std::string& reason) {
    const Instruction& i = step.instruction;
    if (i.kind() == X86_INS_UD2 || i.kind() == X86_INS_HLT || i.is_in(CS_GRP_RET)) return true;
    if (i.is_in(CS_GRP_CALL)) return find_call(step, reason);
    if (!i.is_in(CS_GRP_JUMP)) {
      step.to.push_back(i.next());
      return true;
    }
    const std::optional<std::uint64_t> target = i.target();
    if (!target) {
      if (i.kind() != X86_INS_JMP) return reason = kNotFollowed, false;
      step.around.leaves = i.slot().has_value();
      if (step.around.leaves)
        step.around.callee.name = image_.imported(*i.slot());
      else
        table_jumps_.push_back(i.address());
      return true;
    }
    if (const auto slot = i.kind() == X86_INS_JMP ? slot_behind(image_, decoder_, *target) : std::nullopt) {
      step.around.callee.name = image_.imported(*slot);
      step.around.leaves = true;
      return true;
    }
    if (i.kind() != X86_INS_JMP) step.to.push_back(i.next());
    step.to.push_back(*target);
    meets_.insert(step.to.begin(), step.to.end());
    const Function &here = function_of(i.address()), &there = function_of(*target);
    goes_on_elsewhere_ = goes_on_elsewhere_ || (here.begin != there.begin && !there.is_part && !here.is_part);
    return true;
  }

  /// Where a way goes on that begins with a jump, as the way behind a duplicated conditional jump does.
  std::uint64_t behind_jump(std::uint64_t address) const {
    const auto step = steps_.find(address);
    const bool jumps = step != steps_.end() && step->second.instruction.kind() == X86_INS_JMP;
    return jumps && step->second.instruction.target() && step->second.to.size() == 1 ? step->second.to[0] : address;
  }

  /// gcc duplicates code up to a conditional jump to spare a jump to it: such jumps, of one condition with the same
  /// targets, become one, where the ways to them meet.
  void merge_jumps(std::uint64_t entry) {
    std::map<std::array<std::uint64_t, 3>, std::uint64_t> first;
    std::map<std::uint64_t, std::uint64_t> copies;
    for (const auto& [address, step] : steps_) {
      const auto condition = step.instruction.condition();
      if (!condition || step.to.size() != 2) continue;
      const bool negated = (*condition & 1) != 0;
      const auto [one, is_new] =
          first.try_emplace({static_cast<unsigned>(*condition) / 2, behind_jump(step.to[negated ? 0 : 1]),
                             behind_jump(step.to[negated ? 1 : 0])},
                            address);
      if (is_new || address == entry) continue;
      copies[address] = one->second;
      meets_.insert(one->second);
    }
    for (const auto& [copy, original] : copies) steps_.erase(copy);
    for (auto& [address, step] : steps_) {
      for (std::uint64_t& next : step.to) {
        if (const auto copy = copies.find(next); copy != copies.end()) next = copy->second;
      }
    }
  }

  Following following(std::uint64_t address) const {
    const auto step = steps_.find(address);
    return step != steps_.end() ? Following{&step->second.instruction, &step->second.to} : Following{};
  }

  void find_kept_words() {
    const auto find = [this](std::uint64_t address) { return following(address); };
    for (auto& [address, step] : steps_) {
      if (step.instruction.is_in(CS_GRP_CALL) && step.around.callee.query < 0)
        step.around.kept = words_kept_over_call(step.instruction.next(), find);
    }
  }

  /// The steps, numbered from 1 by their addresses, and the ways between them. 0 stands for the exits.
  struct Graph {
    explicit Graph(Course& course) {
      for (auto& [address, step] : course.steps_) {
        steps.push_back(&step);
        addresses.push_back(address);
      }
      ways.resize(steps.size());
      for (std::size_t n = 1; n < steps.size(); ++n) {
        const Step& step = *steps[n];
        for (const std::uint64_t next : step.to) add_way(n, next);
        if (step.pad) add_way(n, *step.pad);
        if (step.instruction.is_in(CS_GRP_RET) || step.around.leaves) ways[n].push_back(0);
      }
    }
    std::size_t number(std::uint64_t address) const {
      return static_cast<std::size_t>(std::lower_bound(addresses.begin() + 1, addresses.end(), address) -
                                      addresses.begin());
    }
    /// None to a jump that merge_jumps() has taken away.
    void add_way(std::size_t from, std::uint64_t to) {
      const std::size_t next = number(to);
      if (next < addresses.size() && addresses[next] == to) ways[from].push_back(next);
    }

    std::vector<Step*> steps{nullptr};
    std::vector<std::uint64_t> addresses{kExit};
    std::vector<std::vector<std::size_t>> ways;
  };

  /// Depth-first from `root`; `leave` is called for each node after all that are reached through it.
  template <class Leave>
  static void in_postorder(const std::vector<std::vector<std::size_t>>& ways, std::size_t root, const Leave& leave) {
    std::vector<std::pair<std::size_t, std::size_t>> path{{root, 0}};
    std::vector<bool> seen(ways.size());
    seen[root] = true;
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == ways[node].size()) {
        leave(node);
        path.pop_back();
      } else if (const std::size_t other = ways[node][next++]; !seen[other]) {
        seen[other] = true;
        path.emplace_back(other, 0);
      }
    }
  }

  /// In reverse postorder. Where the ways of a jump meet, the states at the ends of all of them are then known.
  static void order_ways(const Graph& graph, std::uint64_t entry) {
    std::size_t rank = graph.steps.size();
    in_postorder(graph.ways, graph.number(entry), [&](std::size_t node) {
      if (node != 0) graph.steps[node]->rank = rank--;
    });
  }

  /// Where the ways of each jump meet, however they go on: its immediate postdominator (Cooper, Harvey and Kennedy, "A
  /// Simple, Fast Dominance Algorithm"). Ways that end the program do not count.
  void find_meetings(const Graph& graph) {
    std::vector<std::vector<std::size_t>> from(graph.ways.size());
    for (std::size_t node = 0; node < graph.ways.size(); ++node) {
      for (const std::size_t next : graph.ways[node]) from[next].push_back(node);
    }
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> order;  // from the entry to the exits
    std::vector<std::size_t> rank(from.size(), kNone), meeting(from.size(), kNone);
    in_postorder(from, 0, [&](std::size_t node) {
      rank[node] = order.size();  // the exit has the highest
      order.push_back(node);
    });
    meeting[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto node = std::next(order.rbegin()); node != order.rend(); ++node) {
        std::size_t common = kNone;
        for (const std::size_t next : graph.ways[*node]) {
          if (meeting[next] == kNone) continue;
          std::size_t a = next, b = common == kNone ? next : common;
          while (a != b) rank[a] < rank[b] ? a = meeting[a] : b = meeting[b];
          common = a;
        }
        changed = changed || meeting[*node] != common;
        meeting[*node] = common;
      }
    }
    for (std::size_t node = 1; node < meeting.size(); ++node) {
      Step& step = *graph.steps[node];
      if (step.to.size() < 2 || meeting[node] == kNone) continue;
      step.around.meeting = graph.addresses[meeting[node]];
      meets_.insert(step.around.meeting);
    }
  }

  bool find_call(Step& step, std::string& reason) {
    const Instruction& i = step.instruction;
    std::optional<std::uint64_t> slot = i.slot();
    if (const auto target = i.target()) slot = slot_behind(image_, decoder_, *target);
    if (slot) {
      step.around.callee.name = image_.imported(*slot);
    } else if (const auto target = i.target()) {
      step.around.callee.is_imported = false;
      step.around.callee.registers = register_uses_.of(*target);
    }
    if (is_query(step.around.callee.name)) {
      step.around.callee.query = static_cast<int>(queries_.size());
      queries_.push_back(i.next());
    }
    const Function& function = function_of(i.address());
    if (!function.is_known) return reason = "continues in a function that the unwind tables do not list", false;
    if (step.around.callee.name.find("setjmp") != std::string_view::npos) return reason = "calls setjmp()", false;
    if (may_return(step.around.callee.name)) return reason = "calls a function that may never return", false;
    for (const Function::Landing& landing : function.landings) {
      if (i.next() > landing.from && i.next() <= landing.to) step.pad = landing.pad;
    }
    step.around.lands = step.pad.has_value();
    step.around.callee.is_pointer = !slot && !i.target();
    if (step.pad) meets_.insert(*step.pad);
    // A call that never returns may be a function's last instruction.
    const Callee& callee = step.around.callee;
    const bool comes_back = callee.is_imported ? returns(callee.name) : callee.registers.returns;
    if (i.next() < function.end && comes_back) step.to.push_back(i.next());
    return true;
  }

  const Function& function_of(std::uint64_t address) {
    for (const Function& known : functions_) {
      if (address >= known.begin && address < known.end) return known;
    }
    return functions_.emplace_back(image_.function_at(address));
  }

  const Image& image_;
  const Decoder& decoder_;
  std::map<std::uint64_t, Step> steps_;
  std::set<std::uint64_t> meets_;
  std::vector<std::uint64_t> queries_;
  std::vector<std::uint64_t> table_jumps_;
  std::deque<Function> functions_;
  RegisterUses register_uses_;
  bool goes_on_elsewhere_ = false;
};

class Interpretation {
 public:
  Interpretation(const Course& course, bool is_body) : course_(course), is_body_(is_body) {}

  /// Until nothing new is learnt; then looks at what each instruction does.
  Findings run(std::uint64_t entry) {
    arrive(entry, State::at_entry(is_body_), entry);
    std::size_t visits = 0;
    while (!open_.empty()) {
      const std::uint64_t from = open_.begin()->second;
      open_.erase(open_.begin());
      visits += walk(from, nullptr) * (1 + states_.at(from).words.size() / kWordsOfAVisit);
      if (visits > kMostVisits) break;
    }
    Findings findings;
    if (!open_.empty()) {
      findings.add(0, kTooLong, entry);
      return findings;
    }
    for (const auto& [from, state] : states_) walk(from, &findings);
    findings.look_at_unread_words();
    if (repeated_ != 0) findings.add(repeated_, "repeats code as often as the thread ID or the team size says", entry);
    return findings;
  }

 private:
  /// @param from the instruction before it, or the jump whose ways have met here
  void arrive(std::uint64_t address, State state, std::uint64_t from) {
    for (const auto& [jump, control] : state.controls) {
      if (control.meeting != address) continue;
      std::map<std::uint64_t, State>& ends = ends_[jump];
      const std::uint64_t met = jump;
      ends[from] = std::move(state);
      return arrive(address, after_control(ends, met), met);
    }
    std::map<std::uint64_t, State>& ways = ways_[address];
    const auto [end, is_first] = ways.try_emplace(from, std::move(state));
    if (!is_first && end->second == state) return;
    if (!is_first) end->second = std::move(state);
    State all = ways.begin()->second;
    for (auto way = std::next(ways.begin()); way != ways.end(); ++way) {
      State other = way->second;
      note_controls(all, other);
      name_divisions(all, other, address);
      all = joined(all, other);
    }
    const auto [known, is_new] = states_.try_emplace(address, all);
    if (!is_new && all == known->second) return;
    known->second = std::move(all);
    open_.insert({course_.rank(address), address});
  }

  /// A way that runs back to before the jump that it comes from: how often the code between is executed depends on the
  /// thread, and what it makes anew is not what other threads have made there.
  void note_controls(const State& a, const State& b) {
    for (const auto& [one, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      for (const auto& [jump, control] : one->controls) {
        if (!other->controls.contains(jump)) repeated_ |= control.sources;
      }
    }
  }

  /// From a place where ways meet to the next ones. With `findings`, only looks.
  std::size_t walk(std::uint64_t from, Findings* findings) {
    const auto first = course_.steps().find(from);
    if (first == course_.steps().end()) return 1;
    State state = states_.at(from);
    const Course::Step* step = &first->second;
    for (std::size_t count = 1;; ++count) {
      const std::uint64_t address = step->instruction.address();
      std::optional<State> other;
      if (step->to.size() > 1) other = state;
      const bool returns_nothing = is_body_ && !course_.goes_on_elsewhere();
      Transition(step->instruction, step->around, returns_nothing, findings).apply(state, other ? &*other : nullptr);
      if (findings != nullptr) findings->look_at_words(state, address);
      if (findings == nullptr) {
        if (step->pad) arrive(*step->pad, state, address);
        for (std::size_t way = 1; way < step->to.size(); ++way) arrive(step->to[way], *other, address);
      }
      step = step->next;
      if (step == nullptr) return count;
      if (step->is_meeting) {
        if (findings == nullptr) arrive(step->instruction.address(), std::move(state), address);
        return count;
      }
    }
  }

  const Course& course_;
  bool is_body_;
  std::map<std::uint64_t, std::map<std::uint64_t, State>>
      ways_;                               // to each place where ways meet: what holds at their ends
  std::map<std::uint64_t, State> states_;  // what holds there
  std::map<std::uint64_t, std::map<std::uint64_t, State>> ends_;  // of each jump: what holds at the ends of its ways
  std::set<std::pair<std::size_t, std::uint64_t>> open_;          // to be visited: first what leads to the others
  std::uint64_t repeated_ = 0;                                    // queries by which code is repeated
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
  static const Decoder& decoder = *new Decoder;  // as long as the process
  Course course(image, decoder);
  const bool right = course.follow(function.begin, proof.reason, proof.instruction);
  for (const std::uint64_t query : course.queries()) proof.queries.push_back({query, false});
  if (!right || proof.queries.empty()) return proof;
  const Findings findings = Interpretation(course, function.begin == body).run(function.begin);
  for (std::size_t n = 0; n < proof.queries.size(); ++n)
    proof.queries[n].proved = (findings.unproved >> std::min<std::size_t>(n, 63) & 1) == 0;
  proof.reason = findings.reason;
  proof.instruction = findings.instruction;
  return proof;
}

}  // namespace steelyard::partition
