// SPDX-License-Identifier: BSD-3-Clause
#include "partition/evex.h"

#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "partition/instruction.h"

namespace steelyard::partition {

namespace {

enum Prefix : int { kNone, k66, kF3, kF2 };

/// The parts of an instruction, as its prefix of four bytes gives them.
struct Parts {
  int map, prefix, opcode, mask;
  int upper_reg, upper_rm, upper_index;  ///< upper bits of the numbers of registers
  int other;                             ///< the number of the second source register
  bool wide, broadcasts;
  int length;  ///< of a vector in bytes
};

std::optional<Parts> parts_of(const std::uint8_t* b, std::size_t size) {
  if (size < 6 || b[0] != 0x62 || (b[1] & 8) != 0 || (b[2] & 4) == 0) return std::nullopt;
  const int length = b[3] >> 5 & 3;
  const Parts parts{.map = b[1] & 7,
                    .prefix = b[2] & 3,
                    .opcode = b[4],
                    .mask = b[3] & 7,
                    .upper_reg = (~b[1] >> 7 & 1) * 8 + (~b[1] >> 4 & 1) * 16,
                    .upper_rm = (~b[1] >> 5 & 1) * 8,
                    .upper_index = (~b[1] >> 6 & 1) * 8,
                    .other = (~b[2] >> 3 & 15) + (~b[3] >> 3 & 1) * 16,
                    .wide = (b[2] & 0x80) != 0,
                    .broadcasts = (b[3] & 0x10) != 0,
                    .length = 16 << (length == 3 ? 2 : length)};
  return parts.map >= 1 && parts.map <= 3 ? std::optional(parts) : std::nullopt;
}

bool is_one_of(int opcode, std::string_view opcodes) {
  return opcodes.find(static_cast<char>(opcode)) != std::string_view::npos;
}

using namespace std::string_view_literals;

/// True for instructions that are not decoded: conversions and copies between registers of different kinds, and rare
/// ones.
bool is_left_out(const Parts& p) {
  if (p.map == 1) return is_one_of(p.opcode, "\x2a\x2c\x2d\x6e\x71\x72\x73\x78\x79\x7a\x7b\x7e\xc4\xc5\xd6\xd7"sv);
  if (p.map == 3) return p.prefix != k66 || is_one_of(p.opcode, "\x14\x15\x16\x17\x20\x22"sv);
  if (p.prefix == kF3) return (p.opcode & 7) > 5 || p.opcode < 0x10 || p.opcode > 0x35 || (p.opcode & 8) != 0;
  return p.prefix != k66 || is_one_of(p.opcode, "\x7a\x7b\x7c\xc6\xc7"sv);
}

bool is_copy(const Parts& p) { return p.map == 1 && is_one_of(p.opcode, "\x10\x11\x28\x29\x6f\x7f"sv); }
bool is_scalar_copy(const Parts& p) { return is_copy(p) && p.opcode <= 0x11 && p.prefix >= kF3; }
bool is_extraction(const Parts& p) { return p.map == 3 && is_one_of(p.opcode, "\x19\x1b\x39\x3b"sv); }

/// True for gathers and scatters: the index of their addresses is a vector.
bool has_vector_index(const Parts& p) {
  return p.map == 2 && ((p.opcode >= 0x90 && p.opcode <= 0x93) || (p.opcode >= 0xa0 && p.opcode <= 0xa3));
}

/// True if it writes the operand that may be in memory.
bool writes_rm(const Parts& p) {
  if (p.map == 1) return is_one_of(p.opcode, "\x11\x13\x17\x29\x2b\x7f\xe7"sv);
  if (p.map == 2) return is_one_of(p.opcode, "\x63\x8a\x8b\xa0\xa1\xa2\xa3"sv) || p.prefix == kF3;
  return is_extraction(p) || p.opcode == 0x1d;
}

/// True for comparisons and tests whose result goes to a mask register.
bool writes_mask(const Parts& p) {
  if (p.map == 1) return is_one_of(p.opcode, "\x64\x65\x66\x74\x75\x76\xc2"sv);
  if (p.map == 2) return is_one_of(p.opcode, "\x26\x27\x29\x37"sv);
  return is_one_of(p.opcode, "\x1e\x1f\x3e\x3f\x66\x67"sv);
}

bool has_constant(const Parts& p) { return p.map == 3 || (p.map == 1 && is_one_of(p.opcode, "\x70\xc2\xc6"sv)); }

/// The size of the operand in memory in bytes, which is the unit of a displacement of one byte. 0: not known.
int bytes_in_memory(const Parts& p) {
  const int element = p.wide ? 8 : 4;
  if (p.broadcasts) return element;
  if (p.map == 1) {
    if (p.prefix >= kF3 && is_one_of(p.opcode, "\x10\x11\x51\x58\x59\x5a\x5c\x5d\x5e\x5f\xc2"sv)) return element;
    if (p.prefix >= kF3) return p.opcode == 0x6f || p.opcode == 0x7f ? p.length : 0;
    const bool is_whole =
        is_one_of(p.opcode,
                  "\x10\x11\x14\x15\x28\x29\x2b\x51\x54\x55\x56\x57\x58\x59\x5b\x5c\x5d\x5e\x5f\x62\x66"
                  "\x6a\x6c\x6d\x6f\x70\x76\x7f\xc2\xc6\xd4\xdb\xdf\xe7\xeb\xef\xf4\xfa\xfb\xfe"sv);
    return is_whole ? p.length : 0;
  }
  if (p.prefix != k66) return 0;
  if (p.map == 2) {
    if (is_one_of(p.opcode, "\x18\x58"sv)) return 4;
    if (is_one_of(p.opcode, "\x19\x59"sv)) return 8;
    if (is_one_of(p.opcode, "\x1a\x5a"sv)) return 16;
    if (is_one_of(p.opcode, "\x1b\x5b"sv)) return 32;
    if (has_vector_index(p)) return element;
    const bool fuses = (p.opcode & 15) >= 6 && p.opcode >= 0x96 && p.opcode <= 0xbf;  // products and sums
    if (fuses) return (p.opcode & 1) != 0 && (p.opcode & 15) > 7 ? element : p.length;
    return is_one_of(p.opcode, "\x0c\x0d\x14\x15\x16\x36\x40\x45\x46\x47\x64\x65\x76\x77\x7e\x7f"sv) ? p.length : 0;
  }
  if (is_one_of(p.opcode, "\x18\x19\x38\x39"sv)) return 16;
  if (is_one_of(p.opcode, "\x1a\x1b\x3a\x3b"sv)) return 32;
  if (is_one_of(p.opcode, "\x0a\x0b"sv)) return element;
  return is_one_of(p.opcode, "\x01\x03\x04\x05\x08\x09\x1e\x1f\x23\x25\x3e\x3f\x43"sv) ? p.length : 0;
}

cs_x86_op register_operand(int first, int number, int size) {
  cs_x86_op operand{};
  operand.type = X86_OP_REG;
  operand.reg = static_cast<x86_reg>(first + number);
  operand.size = static_cast<std::uint8_t>(size);
  return operand;
}

/// The operand in memory. Nothing if it cannot be decoded.
/// @param at index of the next byte to read; becomes that behind the operand
std::optional<cs_x86_op> memory_operand(const Parts& p, const std::uint8_t* bytes, std::size_t size, std::size_t& at) {
  const int form = bytes[5];
  const int mod = form >> 6, rm = form & 7;
  const int unit = bytes_in_memory(p);
  cs_x86_op operand{};
  operand.type = X86_OP_MEM;
  operand.size = static_cast<std::uint8_t>(unit != 0 ? unit : p.length);
  x86_op_mem& place = operand.mem;
  place.scale = 1;
  int base = rm;
  if (rm == 4) {
    if (at >= size) return std::nullopt;
    const int sib = bytes[at++];
    base = sib & 7;
    const int index = (sib >> 3 & 7) + p.upper_index;
    if (has_vector_index(p))
      place.index = static_cast<x86_reg>(X86_REG_ZMM0 + index + (p.other & 16));
    else if (index != 4)
      place.index = name_of(index);
    if (place.index != X86_REG_INVALID) place.scale = 1 << (sib >> 6);
  }
  const bool has_no_base = mod == 0 && base == 5;
  if (!has_no_base)
    place.base = name_of(base + p.upper_rm);
  else if (rm != 4)
    place.base = X86_REG_RIP;
  if (mod == 1) {
    if (at >= size) return std::nullopt;
    const auto distance = static_cast<std::int8_t>(bytes[at++]);
    if (distance != 0 && unit == 0) return std::nullopt;
    place.disp = std::int64_t{distance} * unit;
  } else if (mod == 2 || has_no_base) {
    if (at + 4 > size) return std::nullopt;
    std::int32_t distance = 0;
    std::memcpy(&distance, bytes + at, sizeof distance);
    at += 4;
    place.disp = distance;
  }
  return operand;
}

}  // namespace

bool decode_evex(const std::uint8_t* bytes, std::size_t size, std::uint64_t address, cs_insn& decoded) {
  const std::optional<Parts> found = parts_of(bytes, size);
  if (!found || is_left_out(*found)) return false;
  const Parts& p = *found;
  const int form = bytes[5];
  std::size_t at = 6;
  const bool is_in_memory = form >> 6 != 3;
  std::optional<cs_x86_op> rm =
      is_in_memory ? memory_operand(p, bytes, size, at)
                   : register_operand(X86_REG_ZMM0, (form & 7) + p.upper_rm + 2 * p.upper_index, p.length);
  if (!rm || (is_in_memory && writes_rm(p) && !is_copy(p) && !is_extraction(p) && !has_vector_index(p))) return false;
  if (has_constant(p)) ++at;
  if (at > size) return false;
  const int number = (form >> 3 & 7) + p.upper_reg;
  const cs_x86_op reg =
      writes_mask(p) ? register_operand(X86_REG_K0, number & 7, 8) : register_operand(X86_REG_ZMM0, number, p.length);

  decoded.address = address;
  decoded.size = static_cast<std::uint16_t>(at);
  // A scalar copy between registers, and a copy with a mask register, leave a part of the target as it was.
  const bool is_whole = p.mask == 0 && (is_in_memory || !is_scalar_copy(p));
  const bool compares = p.map == 1 && (p.opcode == 0x2e || p.opcode == 0x2f);
  const bool copies = is_whole && (is_copy(p) || (is_in_memory && is_extraction(p)));
  std::snprintf(decoded.mnemonic, sizeof decoded.mnemonic, "%s", compares ? "vcomi" : copies ? "vmovups" : "vector");
  cs_x86& operands = decoded.detail->x86;
  const auto add = [&](cs_x86_op operand) {
    operand.access = operands.op_count > 0 ? CS_AC_READ : copies ? CS_AC_WRITE : CS_AC_READ | CS_AC_WRITE;
    operands.operands[operands.op_count++] = operand;
  };
  add(writes_rm(p) ? *rm : reg);
  add(writes_rm(p) ? reg : *rm);
  if (!copies) add(register_operand(X86_REG_ZMM0, p.other, p.length));
  if (p.mask != 0) add(register_operand(X86_REG_K0, p.mask, 8));
  return true;
}

}  // namespace steelyard::partition
