// SPDX-License-Identifier: BSD-3-Clause
#include "partition/waiting_loop.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace steelyard::partition {

namespace {

/// Where a value is: a general register (0 to 15), another register (kRegisters + OtherRegister), or a word of the
/// stack (kStack and above, by its offset from rsp or rbp).
using Place = std::int64_t;
using Places = std::set<Place>;
constexpr Place kStack = Place{1} << 40;

bool overlap(const Places& a, const Places& b) {
  return std::any_of(a.begin(), a.end(), [&](Place place) { return b.contains(place); });
}

/// The places that an instruction reads, those that it writes, and of these the ones that it surely overwrites.
struct Effect {
  Places reads, writes, overwrites;
};

void add_registers(Places& places, std::uint32_t registers) {
  for (int r = 0; r < kRegisters; ++r) {
    if ((registers >> r & 1) != 0 && r != kRsp) places.insert(r);
  }
}

void add_operand(Effect& effect, const Instruction& i, const cs_x86_op& operand, bool is_first) {
  const bool writes = (operand.access & CS_AC_WRITE) != 0;
  if (operand.type == X86_OP_REG) {
    const int general = number_of(operand.reg), vector = vector_of(operand.reg);
    if (general >= 0 && general != kRsp && writes) effect.writes.insert(general);
    if (vector < 0) return;
    const Place place = kRegisters + vector;
    const bool whole = is_first && i.overwrites_vector();
    if (writes) effect.writes.insert(place);
    if (writes && whole) effect.overwrites.insert(place);
    if (!writes || !whole || i.operands() > 2) effect.reads.insert(place);
  }
  if (operand.type != X86_OP_MEM || i.kind() == X86_INS_LEA || operand.mem.index != X86_REG_INVALID) return;
  if (operand.mem.base != X86_REG_RBP && operand.mem.base != X86_REG_RSP) return;
  const Place word = kStack + (operand.mem.base == X86_REG_RBP ? 1 : 0) + 2 * operand.mem.disp;
  const bool only_written = is_first && i.kind() == X86_INS_MOV;
  if (!only_written) effect.reads.insert(word);
  if (writes || only_written) effect.writes.insert(word);
  if (only_written) effect.overwrites.insert(word);
}

Effect effect_of(const Instruction& i) {
  Effect effect;
  if (i.is_in(CS_GRP_CALL)) {
    // It may read all of its arguments. Its result, in rax or xmm0, depends on them.
    for (const int r : kArguments) effect.reads.insert(r);
    effect.writes = {kRax, kRegisters};
    for (const int r : kCallerSaved) effect.overwrites.insert(r);
    effect.overwrites.insert(kRegisters);
    return effect;
  }
  add_registers(effect.reads, i.reads());
  add_registers(effect.overwrites, i.writes());
  add_registers(effect.writes, i.writes());
  for (int n = 0; n < i.operands(); ++n) add_operand(effect, i, i.operand(n), n == 0);
  i.for_implicit([&](int reg, bool written) {
    if (reg >= 0 && reg != kRsp && written) effect.writes.insert(reg);
  });
  return effect;
}

using Indices = std::vector<std::size_t>;  // of instructions in a function

/// The successors and predecessors of each instruction of a function.
class ControlFlow {
 public:
  explicit ControlFlow(const std::vector<Instruction>& function) : to_(function.size()), from_(function.size()) {
    for (std::size_t n = 0; n < function.size(); ++n) {
      const Instruction& i = function[n];
      const bool jumps = i.is_in(CS_GRP_JUMP), ends = i.is_in(CS_GRP_RET) || i.kind() == X86_INS_UD2;
      if (!ends && i.kind() != X86_INS_JMP && n + 1 < function.size()) add(n, n + 1);
      if (const auto target = jumps ? i.target() : std::nullopt) {
        const auto there =
            std::lower_bound(function.begin(), function.end(), *target,
                             [](const Instruction& other, std::uint64_t address) { return other.address() < address; });
        if (there != function.end() && there->address() == *target)
          add(n, static_cast<std::size_t>(there - function.begin()));
      }
    }
    // Padding before a loop is never executed, so it does not lead into the loop.
    for (std::size_t n = 1; n < function.size(); ++n) {
      if (function[n].kind() != X86_INS_NOP || !from_[n].empty()) continue;
      for (const std::size_t next : to_[n]) std::erase(from_[next], n);
      to_[n].clear();
    }
  }
  const Indices& to(std::size_t n) const { return to_[n]; }

  /// The outermost loops among these instructions: strongly connected components, in which a way leads from each
  /// instruction to each other one (Tarjan, "Depth-First Search and Linear Graph Algorithms"). Each is sorted.
  std::vector<Indices> loops(const Indices& among) const {
    std::vector<Indices> found;
    std::vector<std::size_t> order(to_.size()), lowest(to_.size());  // 0: not seen so far
    std::vector<bool> is_among(to_.size()), is_open(to_.size());
    for (const std::size_t n : among) is_among[n] = true;
    Indices open;
    std::size_t seen = 0;
    for (const std::size_t start : among) {
      if (order[start] != 0) continue;
      std::vector<std::pair<std::size_t, std::size_t>> path;  // an instruction, and which of its ways comes next
      const auto enter = [&](std::size_t n) {
        order[n] = lowest[n] = ++seen;
        open.push_back(n);
        is_open[n] = true;
        path.emplace_back(n, 0);
      };
      for (enter(start); !path.empty();) {
        auto& [n, way] = path.back();
        if (way < to_[n].size()) {
          const std::size_t next = to_[n][way++];
          if (is_among[next] && order[next] == 0)
            enter(next);
          else if (is_among[next] && is_open[next])
            lowest[n] = std::min(lowest[n], order[next]);
          continue;
        }
        const std::size_t done = n;
        path.pop_back();
        if (!path.empty()) lowest[path.back().first] = std::min(lowest[path.back().first], lowest[done]);
        if (lowest[done] != order[done]) continue;
        const auto first = std::find(open.begin(), open.end(), done);
        Indices loop(first, open.end());
        open.erase(first, open.end());
        for (const std::size_t member : loop) is_open[member] = false;
        std::sort(loop.begin(), loop.end());
        if (loop.size() > 1 || std::find(to_[done].begin(), to_[done].end(), done) != to_[done].end())
          found.push_back(std::move(loop));
      }
    }
    return found;
  }

  /// True for an instruction of a loop that has a predecessor outside of the loop.
  bool is_entry(std::size_t n, const Indices& loop) const {
    return std::any_of(from_[n].begin(), from_[n].end(),
                       [&](std::size_t before) { return !std::binary_search(loop.begin(), loop.end(), before); });
  }

 private:
  void add(std::size_t n, std::size_t next) {
    to_[n].push_back(next);
    from_[next].push_back(n);
  }
  std::vector<Indices> to_, from_;
};

/// True if no exit of a loop depends on a place that is variant: one whose content the loop changes from one round to
/// the next.
bool waits(const std::vector<Instruction>& function, const ControlFlow& flow, const Indices& loop) {
  std::vector<Effect> effects;
  for (const std::size_t n : loop) effects.push_back(effect_of(function[n]));
  Places found, changed, overwritten;  // found: read before anything overwrites it in this round
  for (const Effect& effect : effects) {
    for (const Place place : effect.reads) {
      if (!overwritten.contains(place)) found.insert(place);
    }
    changed.insert(effect.writes.begin(), effect.writes.end());
    overwritten.insert(effect.overwrites.begin(), effect.overwrites.end());
  }
  // Variant is what a round finds as the round before has left it, and what is computed from that.
  Places variant;
  std::set_intersection(found.begin(), found.end(), changed.begin(), changed.end(),
                        std::inserter(variant, variant.end()));
  for (std::size_t size = 0; size != variant.size();) {
    size = variant.size();
    for (const Effect& effect : effects) {
      if (overlap(effect.reads, variant)) variant.insert(effect.writes.begin(), effect.writes.end());
    }
  }
  const auto inside = [&](std::size_t n) { return std::binary_search(loop.begin(), loop.end(), n); };
  for (std::size_t at = 0; at < loop.size(); ++at) {
    const Indices& next = flow.to(loop[at]);
    if (next.size() < 2 || std::all_of(next.begin(), next.end(), inside)) continue;
    std::size_t compared = at;
    while (compared > 0 && !function[loop[compared]].sets_flags()) --compared;
    if (overlap(effects[compared].reads, variant)) return false;
  }
  return true;
}

}  // namespace

bool has_waiting_loop(const std::vector<Instruction>& function) {
  const ControlFlow flow(function);
  Indices all(function.size());
  std::iota(all.begin(), all.end(), 0);
  // To find the loops inside of a loop, its entries are removed.
  for (std::vector<Indices> open = flow.loops(all); !open.empty();) {
    Indices loop = std::move(open.back());
    open.pop_back();
    if (waits(function, flow, loop)) return true;
    Indices inner;
    std::copy_if(loop.begin(), loop.end(), std::back_inserter(inner),
                 [&](std::size_t n) { return !flow.is_entry(n, loop); });
    if (inner.size() == loop.size()) continue;
    for (Indices& other : flow.loops(inner)) open.push_back(std::move(other));
  }
  return false;
}

}  // namespace steelyard::partition
