// SPDX-License-Identifier: BSD-3-Clause
#include "partition/stack_arguments.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace steelyard::partition {

namespace {

struct Bytes {
  std::int64_t begin, end;  // above the stack pointer at the call
};

/// A way through the code after the call. Distances are in bytes above the stack pointer at the call.
struct Way {
  std::uint64_t address;
  std::int64_t top = 0;      // the stack pointer
  std::int64_t highest = 0;  // its highest value so far: the stack below was free, and may have been reused
  bool keeps_rbp = true;
  std::vector<Bytes> written;
};

/// By how many bytes an instruction moves the stack pointer. Nothing if that is not known.
std::optional<std::int64_t> moved(const Instruction& i) {
  if (i.kind() == X86_INS_PUSH || i.kind() == X86_INS_POP) {
    const bool is_whole = i.operands() == 1 && i.operand(0).size == 8 &&
                          (i.operand(0).type != X86_OP_REG || i.operand(0).reg != X86_REG_RSP);
    return is_whole ? std::optional(i.kind() == X86_INS_PUSH ? -8 : 8) : std::nullopt;
  }
  // Code behind the next call is not examined: that would prove no more queries of TeaLeaf and cp2k.
  if (i.is_in(CS_GRP_CALL)) return std::nullopt;
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

/// Instructions whose first operand is read and not written.
bool only_reads(x86_insn kind) {
  return kind == X86_INS_CMP || kind == X86_INS_TEST || kind == X86_INS_PUSH || kind == X86_INS_IDIV ||
         kind == X86_INS_DIV;
}

/// True if it may write this register, which is one of its operands. (Instruction::writes(): surely overwrites.)
bool may_write(const Instruction& i, int reg) {
  for (int n = 0; n < i.operands(); ++n) {
    if (i.operand(n).type == X86_OP_REG && number_of(i.operand(n).reg) == reg && i.operand(n).access != CS_AC_READ)
      return true;
  }
  return false;
}

/// True for a word on the stack that is addressed through `base` alone.
bool is_word(const cs_x86_op& operand, x86_reg base) {
  return operand.type == X86_OP_MEM && operand.mem.base == base && operand.mem.index == X86_REG_INVALID &&
         operand.mem.segment == X86_REG_INVALID;
}

/// Notes which words an instruction reads and writes.
void note_words(const Instruction& i, Way& way, KeptWords& kept) {
  if (i.kind() == X86_INS_LEA || i.kind() == X86_INS_NOP) return;
  for (int n = 0; n < i.operands(); ++n) {
    const cs_x86_op& operand = i.operand(n);
    const bool reads = (operand.access & CS_AC_READ) != 0 && (n > 0 || only_reads(i.kind()));
    if (is_word(operand, X86_REG_RBP) && way.keeps_rbp && reads)
      kept.from_frame_pointer.push_back({operand.mem.disp, way.highest});
    if (!is_word(operand, X86_REG_RSP)) continue;
    const Bytes word{way.top + operand.mem.disp, way.top + operand.mem.disp + operand.size};
    const auto meets = [&](const Bytes& other) { return other.begin < word.end && word.begin < other.end; };
    const bool was_written = std::any_of(way.written.begin(), way.written.end(), meets);
    if (reads && !was_written && word.begin >= way.highest) kept.lowest = std::min(kept.lowest, word.begin);
    if (operand.access != CS_AC_READ) way.written.push_back(word);
  }
}

}  // namespace

std::int64_t KeptWords::lowest_with(std::int64_t frame_pointer) const {
  std::int64_t least = lowest;
  for (const Word& word : from_frame_pointer) {
    if (frame_pointer + word.offset >= word.least) least = std::min(least, frame_pointer + word.offset);
  }
  return least;
}

KeptWords words_kept_over_call(std::uint64_t after, const std::function<CodePoint(std::uint64_t)>& find) {
  KeptWords kept;
  std::set<std::uint64_t> seen;
  std::vector<Way> open{{.address = after, .written = {}}};
  while (!open.empty()) {
    Way way = std::move(open.back());
    open.pop_back();
    const CodePoint point = find(way.address);
    if (point.instruction == nullptr || !seen.insert(way.address).second) continue;
    const Instruction& i = *point.instruction;
    note_words(i, way, kept);
    const std::optional<std::int64_t> by = moved(i);
    if (!by) continue;
    way.top += *by;
    way.highest = std::max(way.highest, way.top);
    way.keeps_rbp = way.keeps_rbp && !may_write(i, kRbp);
    for (const std::uint64_t next : *point.successors) {
      way.address = next;
      open.push_back(way);
    }
  }
  return kept;
}

}  // namespace steelyard::partition
