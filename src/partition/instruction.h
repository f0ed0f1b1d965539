// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <capstone/capstone.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "partition/image.h"

namespace steelyard::partition {

/// General registers, as x86-64 machine code numbers them, and how many there are.
enum GeneralRegister : int {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRegisters
};
/// Registers of other kinds: vector registers, as AVX-512 numbers them; mask registers; those of x87 and MMX together;
/// and how many there are.
enum OtherRegister : int { kXmm0, kXmm1, kXmm8 = 8, kMask0 = 32, kX87 = 40, kVectorRegisters };
/// General registers that hold arguments, in their order, and those that a callee may overwrite (System V ABI).
constexpr int kArguments[] = {kRdi, kRsi, kRdx, kRcx, kR8, kR9};
constexpr int kCallerSaved[] = {kRax, kRcx, kRdx, kRsi, kRdi, kR8, kR9, kR10, kR11};
/// The GeneralRegister of which `name` is the whole or a part; -1 if there is none.
int number_of(x86_reg name);
/// The name of a whole GeneralRegister.
x86_reg name_of(int number);
/// True for ah, bh, ch and dh, the second bytes of general registers.
bool is_second_byte(x86_reg name);
/// The OtherRegister of this name; -1 for a general register, or one that holds no data.
int vector_of(x86_reg name);

/// What Capstone fills in for an instruction: 2 KB, as it has room for those of all machines.
struct CapstoneInstruction {
  CapstoneInstruction() { instruction.detail = &detail; }
  CapstoneInstruction(const CapstoneInstruction&) = delete;
  CapstoneInstruction& operator=(const CapstoneInstruction&) = delete;
  void clear();
  cs_insn instruction{};
  cs_detail detail{};
};

/// One decoded instruction. Operands are in Intel's order: the target comes first.
class Instruction {
 public:
  Instruction() = default;
  explicit Instruction(const CapstoneInstruction& decoded);

  std::uint64_t address() const { return decoded_->address; }
  std::uint64_t next() const { return decoded_->address + decoded_->size; }
  x86_insn kind() const { return decoded_->kind; }
  const char* name() const { return decoded_->name; }
  int operands() const { return decoded_->x86.op_count; }
  const cs_x86_op& operand(int i) const { return decoded_->x86.operands[i]; }
  bool is_in(cs_group_type group) const;
  /// True for moves between general registers, memory and constants, with or without extension.
  bool is_move() const;
  /// True for instructions like `xor %eax, %eax`.
  bool names_one_register_twice() const;
  /// General registers that it may read, a bit each.
  std::uint32_t reads() const;
  /// General registers that it surely overwrites, a bit each.
  std::uint32_t writes() const;
  /// True if its first operand is a vector register whose old content it surely does not read.
  bool overwrites_vector() const;
  /// True if it sets the flags, or some of them.
  bool sets_flags() const;
  /// True if it compares vectors, mask registers or x87 registers, and writes nothing but flags. False for vptestmd
  /// and the like: they write a mask register, and leave the flags alone.
  bool compares_vectors() const;
  /// True if it compares strings in vectors. Such instructions write flags and a register.
  bool compares_strings() const;
  /// The condition code of a conditional jump (Intel SDM, volume 2, "tttn"): an odd code negates the even code before.
  std::optional<int> condition() const;
  /// The target of a direct jump or call.
  std::optional<std::uint64_t> target() const;
  /// The word that an indirect jump or call reads its target from, if the address of that word is a constant.
  std::optional<std::uint64_t> slot() const;
  /// Calls `use(register, is it written)` for registers that it reads or writes without naming them: a GeneralRegister,
  /// or -1 for others.
  template <typename Use>
  void for_implicit(const Use& use) const {
    for (int i = 0; i < decoded_->read_count; ++i) use(number_of(static_cast<x86_reg>(decoded_->read[i])), false);
    for (int i = 0; i < decoded_->written_count; ++i) use(number_of(static_cast<x86_reg>(decoded_->written[i])), true);
  }

 private:
  /// The part of a CapstoneInstruction that is used. A function may have 20,000 instructions.
  struct Decoded {
    std::uint64_t address;
    x86_insn kind;
    std::uint16_t size;
    char name[CS_MNEMONIC_SIZE];
    decltype(cs_detail::regs_read) read;  // without being named
    decltype(cs_detail::regs_write) written;
    decltype(cs_detail::groups) groups;
    std::uint8_t read_count, written_count, group_count;
    cs_x86 x86;
  };
  std::shared_ptr<const Decoded> decoded_;
};

/// Decodes x86-64 code, by Capstone and evex.h. at() may be called by one thread at a time.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  /// The instruction at an address; nothing if there is no code or no valid instruction.
  std::optional<Instruction> at(const Image& image, std::uint64_t address) const;

 private:
  csh handle_ = 0;
  mutable CapstoneInstruction decoded_;
};

}  // namespace steelyard::partition
