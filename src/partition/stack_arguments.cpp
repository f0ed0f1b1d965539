// SPDX-License-Identifier: BSD-3-Clause
#include "partition/stack_arguments.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace steelyard::partition {

namespace {

// Limit of time, in instructions after a call: with 25 of them, as many calls of TeaLeaf and cp2k are proved as with
// 1,000.
constexpr int kMostInstructions = 50;

struct Bytes {
  std::int64_t begin, end;  // above the stack pointer of the call
};

/// One way that the code takes after the call.
struct Way {
  std::uint64_t address;
  std::int64_t top = 0;      // the stack pointer
  std::int64_t highest = 0;  // that it had: what lies below was free, and may have been used again
  std::vector<Bytes> written;
};

/// By how much it moves the stack pointer. Nothing if that is not known.
std::optional<std::int64_t> moved(const Instruction& i) {
  if (i.kind() == X86_INS_PUSH || i.kind() == X86_INS_POP) {
    const bool is_whole = i.operands() == 1 && i.operand(0).size == 8 &&
                          (i.operand(0).type != X86_OP_REG || i.operand(0).reg != X86_REG_RSP);
    return is_whole ? std::optional(i.kind() == X86_INS_PUSH ? -8 : 8) : std::nullopt;
  }
  if (i.is_in(CS_GRP_CALL)) return 0;
  const bool is_target = i.operands() > 0 && i.operand(0).type == X86_OP_REG && number_of(i.operand(0).reg) == kRsp;
  if (!is_target) {
    bool writes = false;
    i.for_implicit([&](int reg, bool written) { writes = writes || (written && reg == kRsp); });
    return writes ? std::nullopt : std::optional<std::int64_t>(0);
  }
  const bool by_number = i.operands() == 2 && i.operand(1).type == X86_OP_IMM;
  if (i.kind() == X86_INS_ADD && by_number) return i.operand(1).imm;
  if (i.kind() == X86_INS_SUB && by_number) return -i.operand(1).imm;
  return std::nullopt;
}

/// A word at a known distance from the stack pointer.
std::optional<Bytes> word_of(const cs_x86_op& operand, std::int64_t top) {
  if (operand.type != X86_OP_MEM || operand.mem.base != X86_REG_RSP || operand.mem.index != X86_REG_INVALID ||
      operand.mem.segment != X86_REG_INVALID)
    return std::nullopt;
  return Bytes{top + operand.mem.disp, top + operand.mem.disp + operand.size};
}

/// Notes what an instruction writes, and returns where the lowest word begins that it reads from before that.
std::int64_t lowest_read(const Instruction& i, Way& way) {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  if (i.kind() == X86_INS_LEA || i.kind() == X86_INS_NOP) return lowest;
  for (int n = 0; n < i.operands(); ++n) {
    const std::optional<Bytes> word = word_of(i.operand(n), way.top);
    if (!word) continue;
    const auto meets = [&](const Bytes& other) { return other.begin < word->end && word->begin < other.end; };
    const bool was_written = std::any_of(way.written.begin(), way.written.end(), meets);
    if ((i.operand(n).access & CS_AC_READ) != 0 && !was_written && word->begin >= way.highest)
      lowest = std::min(lowest, word->begin);
    if (i.operand(n).access != CS_AC_READ) way.written.push_back(*word);
  }
  return lowest;
}

}  // namespace

std::int64_t end_of_stack_arguments(std::uint64_t after, const std::function<Following(std::uint64_t)>& find) {
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  std::set<std::uint64_t> seen;
  std::vector<Way> open{{.address = after, .written = {}}};
  for (int count = 0; !open.empty() && count < kMostInstructions; ++count) {
    Way way = std::move(open.front());
    open.erase(open.begin());
    const Following following = find(way.address);
    if (following.instruction == nullptr || !seen.insert(way.address).second) continue;
    end = std::min(end, lowest_read(*following.instruction, way));
    const std::optional<std::int64_t> by = moved(*following.instruction);
    if (!by) continue;
    way.top += *by;
    way.highest = std::max(way.highest, way.top);
    for (const std::uint64_t next : *following.to) {
      way.address = next;
      open.push_back(way);
    }
  }
  return end;
}

}  // namespace steelyard::partition
