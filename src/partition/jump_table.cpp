// SPDX-License-Identifier: BSD-3-Clause
#include "partition/jump_table.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstring>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace steelyard::partition {

namespace {

/// Format: bytes of a table's entry: an address, or an offset from one.
enum EntrySize : int { kOffset = 4, kAddress = 8 };
/// Condition codes for unsigned numbers (Intel SDM, volume 2, "tttn").
enum Condition : int { kBelow = 2, kNotAbove = 6 };

bool is_register(const cs_x86_op& operand) { return operand.type == X86_OP_REG && number_of(operand.reg) >= 0; }

bool is_caller_saved(int reg) {
  return std::find(std::begin(kCallerSaved), std::end(kCallerSaved), reg) != std::end(kCallerSaved);
}

bool keeps_flags(const Instruction& i) {
  return i.is_move() || i.kind() == X86_INS_LEA || i.kind() == X86_INS_NOP || i.kind() == X86_INS_CDQE ||
         i.kind() == X86_INS_PUSH || i.kind() == X86_INS_POP;
}

/// True if it may change this register. Not for calls.
bool may_change(const Instruction& i, int reg) {
  if (i.kind() == X86_INS_CMP || i.kind() == X86_INS_TEST || i.kind() == X86_INS_NOP) return false;
  if (i.kind() == X86_INS_SYSCALL || i.is_in(CS_GRP_INT)) return true;
  if (i.kind() == X86_INS_CDQE && reg == kRax) return true;
  if ((i.kind() == X86_INS_PUSH || i.kind() == X86_INS_POP) && reg == kRsp) return true;
  const bool is_rep = reg == kRcx && i.name()[0] == 'r' && i.name()[1] == 'e' && i.name()[2] == 'p';
  bool changes = is_rep;
  const bool reads_others = i.is_move() || i.kind() == X86_INS_ADD || i.kind() == X86_INS_SUB;
  for (int n = 0; n < i.operands(); ++n) {
    const bool is_it = i.operand(n).type == X86_OP_REG && number_of(i.operand(n).reg) == reg;
    if (is_it && (n == 0 ? i.kind() != X86_INS_PUSH : !reads_others)) changes = true;
  }
  i.for_implicit([&](int written, bool writes) { changes = changes || (writes && written == reg); });
  return changes;
}

/// Where an index is: in a register; or in memory, at an address that is a linear combination of registers.
struct Place {
  int reg = -1;  ///< -1: in memory
  int size = 0;  ///< in memory, in bytes
  std::array<std::int64_t, kRegisters> factor{};
  std::uint64_t displacement = 0;
  auto operator<=>(const Place&) const = default;

  /// Adds `times` the address that this instruction computes.
  /// @return false if that is no linear combination of general registers
  bool add(const Instruction& i, const x86_op_mem& address, std::int64_t times) {
    displacement += static_cast<std::uint64_t>(times) * static_cast<std::uint64_t>(address.disp);
    if (address.base == X86_REG_RIP) displacement += static_cast<std::uint64_t>(times) * i.next();
    for (const auto& [name, scale] : {std::pair{address.base, 1}, std::pair{address.index, address.scale}}) {
      if (name == X86_REG_INVALID || name == X86_REG_RIP) continue;
      if (number_of(name) < 0) return false;
      factor[number_of(name)] += times * scale;
    }
    return address.segment == X86_REG_INVALID;
  }
};

std::optional<Place> place_of(const Instruction& i, const cs_x86_op& operand) {
  Place place;
  if (operand.type == X86_OP_REG && !is_second_byte(operand.reg)) place.reg = number_of(operand.reg);
  if (place.reg >= 0) return place;
  place.size = operand.size;
  return operand.type == X86_OP_MEM && place.add(i, operand.mem, 1) ? std::optional(place) : std::nullopt;
}

/// What is known of the comparison that set the flags: its first operand is below its second, or not above it.
enum class Limit : std::uint8_t { none, below, not_above };

/// Where the backward search is: before an instruction, with the place that the index has there.
struct Point {
  std::uint64_t address = 0;
  Place index;
  Limit limit = Limit::none;
  auto operator<=>(const Point&) const = default;
};

struct Table {
  std::uint64_t address = 0;
  Place index;
  std::uint64_t where = 0;  ///< the instruction before which the index is at that place
};

/// Searches backwards from a jump.
class Search {
 public:
  explicit Search(const KnownCode& code) : code_(code) {}

  struct Found {
    Table table;
    EntrySize size = kAddress;
    std::uint64_t base = 0;  ///< what is added to each entry
  };
  /// The table that a jump reads; nothing if it is not known.
  std::optional<Found> find(const Instruction& jump) const {
    if (jump.operands() != 1) return std::nullopt;
    const cs_x86_op& to = jump.operand(0);
    if (to.type == X86_OP_MEM) return addresses(jump, to);
    const Instruction* const last = is_register(to) ? definition(number_of(to.reg), jump.address()) : nullptr;
    if (last == nullptr || last->operands() != 2 || !is_register(last->operand(0)) || last->operand(0).size != 8)
      return std::nullopt;
    const cs_x86_op& from = last->operand(1);
    if (last->kind() == X86_INS_MOV && from.type == X86_OP_MEM) return addresses(*last, from);
    if (last->kind() != X86_INS_ADD || from.type != X86_OP_REG) return std::nullopt;
    const int a = number_of(last->operand(0).reg), b = number_of(from.reg);
    for (const auto& [offset, base] : {std::pair{a, b}, std::pair{b, a}}) {
      const auto table = table_of_offset(offset, last->address());
      const auto number = table ? constant(base, last->address()) : std::nullopt;
      if (number) return Found{*table, kOffset, *number};
    }
    return std::nullopt;
  }

  /// The highest value that the index may have, on any way to the jump; nothing if it is not known. A comparison of a
  /// part of a register counts for the whole: the rest is 0, or the program would read past its table.
  std::optional<std::uint64_t> highest(const Table& table) const {
    std::optional<std::uint64_t> highest;
    std::set<Point> seen;
    std::vector<Point> open{{table.where, table.index, Limit::none}};
    while (!open.empty()) {
      const Point after = open.back();
      open.pop_back();
      const auto predecessors = code_.predecessors.find(after.address);
      if (predecessors == code_.predecessors.end()) return std::nullopt;
      for (const std::uint64_t address : predecessors->second) {
        const Instruction* const i = code_.find(address).instruction;
        Point point = after;
        point.address = address;
        if (i == nullptr) return std::nullopt;
        if (const auto most = bound(*i, point))
          highest = std::max(highest.value_or(0), *most);
        else if (!step_back(*i, after.address, point))
          return std::nullopt;
        else if (seen.insert(point).second)
          open.push_back(point);
      }
    }
    return highest;
  }

 private:
  /// The instruction that wrote a register last before `address`; null if there may be several.
  const Instruction* definition(int reg, std::uint64_t address) const {
    while (true) {
      const auto predecessors = code_.predecessors.find(address);
      if (predecessors == code_.predecessors.end() || predecessors->second.size() != 1) return nullptr;
      address = predecessors->second[0];
      const Instruction* const i = code_.find(address).instruction;
      if (i == nullptr || i->is_in(CS_GRP_CALL)) return nullptr;
      if (may_change(*i, reg)) return i;
    }
  }

  /// What a register holds before an instruction, if that is the same number on all ways to it.
  std::optional<std::uint64_t> constant(int reg, std::uint64_t address) const {
    std::optional<std::uint64_t> number;
    std::set<std::pair<std::uint64_t, int>> seen;
    std::vector<std::pair<std::uint64_t, int>> open{{address, reg}};
    while (!open.empty()) {
      const auto [after, held] = open.back();
      open.pop_back();
      const auto predecessors = code_.predecessors.find(after);
      if (predecessors == code_.predecessors.end()) return std::nullopt;
      for (const std::uint64_t at : predecessors->second) {
        const Instruction* const i = code_.find(at).instruction;
        if (i == nullptr) return std::nullopt;
        int source = held;
        std::optional<std::uint64_t> written;
        if (i->is_in(CS_GRP_CALL)) {
          if (is_caller_saved(held)) return std::nullopt;
        } else if (may_change(*i, held)) {
          written = number_written(*i);
          source = copied(*i);
          if (!written && source < 0) return std::nullopt;
        }
        if (written && number.value_or(*written) != *written) return std::nullopt;
        if (written)
          number = written;
        else if (seen.emplace(at, source).second)
          open.emplace_back(at, source);
      }
    }
    return number;
  }

  /// The number that `lea address(%rip), register` or `mov $number, register` writes.
  static std::optional<std::uint64_t> number_written(const Instruction& i) {
    if (i.operands() != 2 || !is_register(i.operand(0)) || i.operand(0).size < 4) return std::nullopt;
    const cs_x86_op& from = i.operand(1);
    const bool is_whole = i.operand(0).size == 8;
    if (i.kind() == X86_INS_LEA && is_whole && from.mem.base == X86_REG_RIP && from.mem.index == X86_REG_INVALID)
      return i.next() + static_cast<std::uint64_t>(from.mem.disp);
    if ((i.kind() != X86_INS_MOV && i.kind() != X86_INS_MOVABS) || from.type != X86_OP_IMM) return std::nullopt;
    const auto number = static_cast<std::uint64_t>(from.imm);
    return is_whole ? number : number & UINT32_MAX;
  }

  /// The source of a copy from register to register, of 8 bytes; -1 for other instructions.
  static int copied(const Instruction& i) {
    const bool copies = i.kind() == X86_INS_MOV && i.operands() == 2 && is_register(i.operand(0)) &&
                        is_register(i.operand(1)) && i.operand(0).size == 8;
    return copies ? number_of(i.operand(1).reg) : -1;
  }

  /// The table of addresses that an instruction loads one of.
  std::optional<Found> addresses(const Instruction& load, const cs_x86_op& from) const {
    const auto table = from.size == kAddress ? table_at(load, from.mem, kAddress) : std::nullopt;
    return table ? std::optional(Found{*table, kAddress, 0}) : std::nullopt;
  }

  /// The table of offsets of which a register holds one, extended to 8 bytes.
  std::optional<Table> table_of_offset(int reg, std::uint64_t address) const {
    const Instruction* i = definition(reg, address);
    if (i == nullptr) return std::nullopt;
    if (i->kind() == X86_INS_MOVSXD && i->operands() == 2 && i->operand(1).type == X86_OP_MEM &&
        i->operand(0).size == 8 && i->operand(1).size == kOffset)
      return table_at(*i, i->operand(1).mem, kOffset);
    int half = -1;
    if (i->kind() == X86_INS_CDQE) half = kRax;
    if (i->kind() == X86_INS_MOVSXD && i->operands() == 2 && i->operand(0).size == 8 && is_register(i->operand(1)))
      half = number_of(i->operand(1).reg);
    i = half >= 0 ? definition(half, i->address()) : nullptr;
    const bool loads = i != nullptr && i->kind() == X86_INS_MOV && is_register(i->operand(0)) &&
                       i->operand(0).size == kOffset && i->operand(1).type == X86_OP_MEM;
    return loads ? table_at(*i, i->operand(1).mem, kOffset) : std::nullopt;
  }

  /// The table that an instruction loads an entry of, from the operand `from`.
  std::optional<Table> table_at(const Instruction& load, const x86_op_mem& from, EntrySize size) const {
    const int base = number_of(from.base), index = number_of(from.index);
    if (from.segment != X86_REG_INVALID || index < 0 || (base < 0 && from.base != X86_REG_INVALID)) return std::nullopt;
    const auto displacement = static_cast<std::uint64_t>(from.disp);
    if (from.scale == size) {
      const auto number = base < 0 ? std::optional<std::uint64_t>(0) : constant(base, load.address());
      return number ? std::optional(Table{*number + displacement, {.reg = index}, load.address()}) : std::nullopt;
    }
    if (from.scale != 1 || base < 0) return std::nullopt;
    for (const auto& [table, scaled] : {std::pair{base, index}, std::pair{index, base}}) {
      const Instruction* const multiplies = definition(scaled, load.address());
      if (multiplies == nullptr || multiplies->kind() != X86_INS_LEA || multiplies->operand(0).size != 8) continue;
      const x86_op_mem& product = multiplies->operand(1).mem;
      const int factor = number_of(product.index);
      if (product.base != X86_REG_INVALID || factor < 0 || product.scale != size || product.disp != 0) continue;
      if (const auto number = constant(table, load.address()))
        return Table{*number + displacement, {.reg = factor}, multiplies->address()};
    }
    return std::nullopt;
  }

  /// The highest value of the index at `point` if this instruction limits it.
  std::optional<std::uint64_t> bound(const Instruction& i, const Point& point) const {
    const bool compares = i.kind() == X86_INS_CMP && point.limit != Limit::none;
    if ((!compares && i.kind() != X86_INS_AND) || i.operands() != 2 || i.operand(1).type != X86_OP_IMM)
      return std::nullopt;
    const auto place = place_of(i, i.operand(0));
    if (!place || !are_same(*place, point.index, i.address())) return std::nullopt;
    const std::int64_t number = i.operand(1).imm;
    const int size = i.operand(0).size;
    if (!compares) return size >= 4 && number >= 0 ? std::optional<std::uint64_t>(number) : std::nullopt;
    const std::uint64_t all = size < 8 ? (std::uint64_t{1} << 8 * size) - 1 : ~std::uint64_t{0};
    const std::uint64_t most = static_cast<std::uint64_t>(number) & all;
    if (point.limit == Limit::not_above) return most;
    return most > 0 ? std::optional(most - 1) : std::nullopt;
  }

  /// True if two places are known to be the same before the instruction at `address`. gcc may express one address by
  /// different registers, of which it has computed some from others.
  bool are_same(Place a, Place b, std::uint64_t address) const {
    while (a != b) {
      if (a.reg >= 0 || b.reg >= 0 || a.size != b.size) return false;
      const auto predecessors = code_.predecessors.find(address);
      if (predecessors == code_.predecessors.end() || predecessors->second.size() != 1) return false;
      address = predecessors->second[0];
      const Instruction* const i = code_.find(address).instruction;
      if (i == nullptr || i->is_in(CS_GRP_CALL) || !step_back_address(*i, a) || !step_back_address(*i, b)) return false;
    }
    return true;
  }

  /// Moves `point` backwards over an instruction. False if it is not known where the index is before it.
  /// @param next the instruction that is executed after it
  static bool step_back(const Instruction& i, std::uint64_t next, Point& point) {
    if (i.is_in(CS_GRP_CALL)) {
      point.limit = Limit::none;
      return point.index.reg >= 0 && !is_caller_saved(point.index.reg);
    }
    if (i.is_in(CS_GRP_JUMP)) return step_back_jump(i, next, point);
    if (!keeps_flags(i)) point.limit = Limit::none;
    if (point.index.reg < 0) return step_back_memory(i, point.index);
    if (!may_change(i, point.index.reg) || i.kind() == X86_INS_CDQE) return true;
    if (!i.is_move() || i.operands() != 2 || i.operand(0).size < 4) return false;
    const std::optional<Place> source = place_of(i, i.operand(1));
    if (source) point.index = *source;
    return source.has_value();
  }

  /// The same for an index in memory. Writes of other threads do not matter: the program would race with them.
  static bool step_back_memory(const Instruction& i, Place& place) {
    // `push` writes below all variables.
    const bool writes_nothing =
        i.kind() == X86_INS_CMP || i.kind() == X86_INS_TEST || i.kind() == X86_INS_NOP || i.kind() == X86_INS_PUSH;
    const bool writes_register = (i.kind() == X86_INS_LEA || i.is_move()) && is_register(i.operand(0));
    return (writes_nothing || writes_register) && step_back_address(i, place);
  }

  /// Expresses the address of a place in memory by the registers as they were before an instruction (not a call).
  static bool step_back_address(const Instruction& i, Place& place) {
    for (int r = 0; r < kRegisters; ++r) {
      if (place.factor[r] == 0 || !may_change(i, r)) continue;
      const std::int64_t times = std::exchange(place.factor[r], 0);
      if (i.operands() != 2 || i.operand(0).size != 8) return false;
      if (i.kind() == X86_INS_LEA) return place.add(i, i.operand(1).mem, times);
      if (copied(i) < 0) return false;
      place.factor[copied(i)] += times;
      return true;
    }
    return true;
  }

  static bool step_back_jump(const Instruction& i, std::uint64_t next, Point& point) {
    if (i.kind() == X86_INS_JMP) return true;
    const std::optional<int> condition = i.condition();
    const std::optional<std::uint64_t> target = i.target();
    if (!condition || !target) return false;
    if (*target == i.next()) return true;
    const int holds = next == *target ? *condition : *condition ^ 1;
    if (holds == kBelow) point.limit = Limit::below;
    if (holds == kNotAbove) point.limit = Limit::not_above;
    return true;
  }

  const KnownCode& code_;
};

}  // namespace

std::vector<std::uint64_t> targets_of_table(const Image& image, const KnownCode& code, const Instruction& jump,
                                            std::uint64_t entry) {
  const Search search(code);
  const auto found = search.find(jump);
  const auto highest = found ? search.highest(found->table) : std::nullopt;
  if (!highest || !image.is_constant(found->table.address)) return {};
  const Image::Bytes table = image.bytes(found->table.address);
  const auto size = static_cast<std::uint64_t>(found->size);
  if (*highest >= table.size / size) return {};
  const std::uint64_t here = image.function_at(jump.address()).begin;
  std::set<std::uint64_t> ways;
  for (std::uint64_t n = 0; n <= *highest; ++n) {
    std::int32_t offset = 0;
    std::uint64_t way = 0;
    if (found->size == kOffset) {
      std::memcpy(&offset, table.data + n * size, sizeof offset);
      way = found->base + static_cast<std::uint64_t>(std::int64_t{offset});
    } else {
      std::memcpy(&way, table.data + n * size, sizeof way);
    }
    if (!ways.insert(way).second) continue;
    const Function there = image.function_at(way);
    if (!there.is_known || (there.begin != here && there.begin != entry && !there.is_part)) return {};
  }
  return {ways.begin(), ways.end()};
}

}  // namespace steelyard::partition
