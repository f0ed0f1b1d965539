// SPDX-License-Identifier: BSD-3-Clause
#include "partition/instruction.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "partition/evex.h"

namespace steelyard::partition {

namespace {

/// Names of general registers: of 8 bytes, 4, 2, the lowest byte and the second byte.
constexpr std::array<std::array<x86_reg, 5>, kRegisters> kNames{{
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, X86_REG_INVALID},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, X86_REG_INVALID},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_INVALID},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_INVALID},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, X86_REG_INVALID},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, X86_REG_INVALID},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, X86_REG_INVALID},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, X86_REG_INVALID},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, X86_REG_INVALID},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, X86_REG_INVALID},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, X86_REG_INVALID},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, X86_REG_INVALID},
}};

}  // namespace

int number_of(x86_reg name) {
  static const auto numbers = [] {
    std::array<std::int8_t, X86_REG_ENDING> table{};
    table.fill(-1);
    for (int r = 0; r < kRegisters; ++r) {
      for (const x86_reg part : kNames[r]) {
        if (part != X86_REG_INVALID) table[part] = static_cast<std::int8_t>(r);
      }
    }
    return table;
  }();
  return numbers[name];
}

x86_reg name_of(int number) { return kNames[number][0]; }

bool is_second_byte(x86_reg name) {
  return name == X86_REG_AH || name == X86_REG_BH || name == X86_REG_CH || name == X86_REG_DH;
}

int vector_of(x86_reg name) {
  if (name >= X86_REG_XMM0 && name <= X86_REG_XMM31) return name - X86_REG_XMM0;
  if (name >= X86_REG_YMM0 && name <= X86_REG_YMM31) return name - X86_REG_YMM0;
  if (name >= X86_REG_ZMM0 && name <= X86_REG_ZMM31) return name - X86_REG_ZMM0;
  if (name >= X86_REG_K0 && name <= X86_REG_K7) return kMask0 + (name - X86_REG_K0);
  const bool is_older = (name >= X86_REG_ST0 && name <= X86_REG_ST7) || (name >= X86_REG_MM0 && name <= X86_REG_MM7);
  return is_older ? kX87 : -1;
}

namespace {

// Format: x86. The greatest length of an instruction in bytes, rounded up.
constexpr std::uint64_t kLongest = 16;

}  // namespace

void CapstoneInstruction::clear() {
  instruction = {};
  detail = {};
  instruction.detail = &detail;
}

Instruction::Instruction(const CapstoneInstruction& decoded) {
  const cs_insn& instruction = decoded.instruction;
  const cs_detail& detail = decoded.detail;
  auto kept = std::make_shared<Decoded>();
  kept->address = instruction.address;
  kept->kind = static_cast<x86_insn>(instruction.id);
  kept->size = instruction.size;
  std::copy(std::begin(instruction.mnemonic), std::end(instruction.mnemonic), kept->name);
  std::copy(std::begin(detail.regs_read), std::end(detail.regs_read), kept->read);
  std::copy(std::begin(detail.regs_write), std::end(detail.regs_write), kept->written);
  std::copy(std::begin(detail.groups), std::end(detail.groups), kept->groups);
  kept->read_count = detail.regs_read_count;
  kept->written_count = detail.regs_write_count;
  kept->group_count = detail.groups_count;
  kept->x86 = detail.x86;
  decoded_ = std::move(kept);
}

bool Instruction::is_move() const {
  return kind() == X86_INS_MOV || kind() == X86_INS_MOVABS || kind() == X86_INS_MOVZX || kind() == X86_INS_MOVSX ||
         kind() == X86_INS_MOVSXD;
}

bool Instruction::is_in(cs_group_type group) const {
  for (int i = 0; i < decoded_->group_count; ++i) {
    if (decoded_->groups[i] == group) return true;
  }
  return false;
}

bool Instruction::names_one_register_twice() const {
  return operands() == 2 && operand(0).type == X86_OP_REG && operand(1).type == X86_OP_REG &&
         operand(0).reg == operand(1).reg;
}

std::uint32_t Instruction::reads() const {
  std::uint32_t registers = 0;
  const auto add = [&](x86_reg name) {
    if (const int number = number_of(name); number >= 0) registers |= 1u << number;
  };
  const bool clears = kind() == X86_INS_XOR && names_one_register_twice();
  for (int i = 0; i < operands(); ++i) {
    if (operand(i).type == X86_OP_MEM) {
      add(operand(i).mem.base);
      add(operand(i).mem.index);
    }
    const bool only_written = i == 0 && operand(0).size >= 4 && (is_move() || kind() == X86_INS_LEA);
    if (operand(i).type == X86_OP_REG && !only_written && !clears) add(operand(i).reg);
  }
  for_implicit([&](int reg, bool written) {
    if (reg >= 0 && !written) registers |= 1u << reg;
  });
  return registers;
}

std::uint32_t Instruction::writes() const {
  const bool writes_first = is_move() || kind() == X86_INS_LEA || kind() == X86_INS_XOR || kind() == X86_INS_ADD ||
                            kind() == X86_INS_SUB || kind() == X86_INS_POP || kind() == X86_INS_IMUL;
  if (!writes_first || operands() == 0 || operand(0).type != X86_OP_REG || operand(0).size < 4) return 0;
  const int number = number_of(operand(0).reg);
  return number < 0 || (kind() == X86_INS_IMUL && operands() == 1) ? 0 : 1u << number;
}

bool Instruction::overwrites_vector() const {
  static constexpr std::string_view whole[] = {"movaps", "movapd", "movups", "movupd", "movdqa", "movdqu", "movq",
                                               "movd",   "movss",  "movsd",  "addsd",  "addpd",  "addss",  "addps",
                                               "subsd",  "subpd",  "mulsd",  "mulpd",  "mulss",  "mulps",  "divsd",
                                               "divpd",  "xorps",  "xorpd",  "pxor",   "andps",  "andpd"};
  for (int n = 0; n < operands(); ++n) {
    const bool is_register = operand(n).type == X86_OP_REG;
    if (is_register && operand(n).reg >= X86_REG_K0 && operand(n).reg <= X86_REG_K7) return false;  // a mask register
  }
  std::string_view name = this->name();
  const bool has_target = name[0] == 'v' && operands() == 3;
  if (name[0] == 'v') name.remove_prefix(1);
  if (std::find(std::begin(whole), std::end(whole), name) == std::end(whole)) return false;
  if (name.find("xor") != std::string_view::npos && operands() == 2 && names_one_register_twice()) return true;
  if (!name.starts_with("mov")) return has_target;
  const bool is_scalar = name == "movss" || name == "movsd";  // between registers, it leaves the rest
  return operands() == 2 && (!is_scalar || operand(1).type == X86_OP_MEM);
}

bool Instruction::sets_flags() const {
  constexpr std::uint64_t all = X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_MODIFY_CF | X86_EFLAGS_MODIFY_SF |
                                X86_EFLAGS_MODIFY_OF | X86_EFLAGS_RESET_ZF | X86_EFLAGS_RESET_CF;
  return (decoded_->x86.eflags & all) != 0;
}

bool Instruction::compares_vectors() const {
  const std::string_view name = this->name();
  return name.find("comi") != std::string_view::npos || name == "ptest" || name == "vptest" ||
         name.starts_with("vtestp") || name.starts_with("kortest") || name.starts_with("ktest");
}

bool Instruction::compares_strings() const {
  const std::string_view name = this->name();
  return name.find("cmpestr") != std::string_view::npos || name.find("cmpistr") != std::string_view::npos;
}

std::optional<int> Instruction::condition() const {
  const std::uint8_t* const opcode = decoded_->x86.opcode;
  if (opcode[0] == 0x0f && opcode[1] >> 4 == 8) return opcode[1] & 15;
  return opcode[0] >> 4 == 7 ? std::optional(opcode[0] & 15) : std::nullopt;
}

std::optional<std::uint64_t> Instruction::target() const {
  if (operands() != 1 || operand(0).type != X86_OP_IMM) return std::nullopt;
  return static_cast<std::uint64_t>(operand(0).imm);
}

std::optional<std::uint64_t> Instruction::slot() const {
  if (operands() != 1 || operand(0).type != X86_OP_MEM) return std::nullopt;
  const x86_op_mem& place = operand(0).mem;
  if (place.index != X86_REG_INVALID || place.segment != X86_REG_INVALID) return std::nullopt;
  if (place.base == X86_REG_RIP) return next() + static_cast<std::uint64_t>(place.disp);
  if (place.base == X86_REG_INVALID) return static_cast<std::uint64_t>(place.disp);
  return std::nullopt;
}

Decoder::Decoder() {
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) == CS_ERR_OK) cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
}

Decoder::~Decoder() { cs_close(&handle_); }

std::optional<Instruction> Decoder::at(const Image& image, std::uint64_t address) const {
  const Image::Bytes there = image.bytes(address);
  if (there.data == nullptr || !image.is_code(address)) return std::nullopt;
  const std::uint8_t* from = there.data;
  std::uint64_t next = address;
  const std::size_t size = std::min<std::uint64_t>(there.size, kLongest);
  std::size_t left = size;
  decoded_.clear();
  // cs_disasm() would allocate the instruction and its detail separately, and an array of instructions.
  if (!cs_disasm_iter(handle_, &from, &left, &next, &decoded_.instruction)) {
    decoded_.clear();
    if (!decode_evex(there.data, size, address, decoded_.instruction)) return std::nullopt;
  }
  return Instruction(decoded_);
}

}  // namespace steelyard::partition

// These definitions replace Capstone's decoders for other machines, which would add 5 MB, and 77,000 addresses that the
// loader sets at each program's start (0.9 ms).
#define STEELYARD_LEAVE_OUT(machine)                                     \
  extern "C" cs_err machine##_global_init(void*) { return CS_ERR_ARCH; } \
  extern "C" cs_err machine##_option(csh, cs_opt_type, size_t) { return CS_ERR_ARCH; }
STEELYARD_LEAVE_OUT(AArch64)
STEELYARD_LEAVE_OUT(ARM)
STEELYARD_LEAVE_OUT(EVM)
STEELYARD_LEAVE_OUT(M680X)
STEELYARD_LEAVE_OUT(M68K)
STEELYARD_LEAVE_OUT(Mips)
STEELYARD_LEAVE_OUT(PPC)
STEELYARD_LEAVE_OUT(Sparc)
STEELYARD_LEAVE_OUT(SystemZ)
STEELYARD_LEAVE_OUT(TMS320C64x)
STEELYARD_LEAVE_OUT(XCore)
