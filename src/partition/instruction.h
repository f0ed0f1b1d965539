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
/// Registers of other kinds: vector registers from 0, as AVX-512 numbers them, then mask registers, then those of x87
/// and MMX as one; and how many there are.
enum OtherRegister : int { kXmm0, kXmm1, kXmm8 = 8, kMask0 = 32, kX87 = 40, kVectorRegisters };
/// Registers of arguments, and those that a function may overwrite (System V ABI).
constexpr int kArguments[] = {kRdi, kRsi, kRdx, kRcx, kR8, kR9};
constexpr int kCallerSaved[] = {kRax, kRcx, kRdx, kRsi, kRdi, kR8, kR9, kR10, kR11};
/// A GeneralRegister, whatever part of it is named; -1 if it is none.
int number_of(x86_reg name);
/// The name of a whole GeneralRegister.
x86_reg name_of(int number);
/// True for the second byte of a general register.
bool is_second_byte(x86_reg name);
/// An OtherRegister; -1 for a general register, or one that holds no data.
int vector_of(x86_reg name);

/// One decoded instruction.
class Instruction {
 public:
  struct Decoded {
    Decoded() { instruction.detail = &detail; }
    Decoded(const Decoded&) = delete;
    Decoded& operator=(const Decoded&) = delete;
    cs_insn instruction{};
    cs_detail detail{};
  };
  Instruction() = default;
  explicit Instruction(std::shared_ptr<const Decoded> decoded) : decoded_(std::move(decoded)) {}

  std::uint64_t address() const { return decoded_->instruction.address; }
  std::uint64_t next() const { return decoded_->instruction.address + decoded_->instruction.size; }
  x86_insn kind() const { return static_cast<x86_insn>(decoded_->instruction.id); }
  const char* name() const { return decoded_->instruction.mnemonic; }
  int operands() const { return decoded_->detail.x86.op_count; }
  const cs_x86_op& operand(int i) const { return decoded_->detail.x86.operands[i]; }
  bool is_in(cs_group_type group) const;
  /// A move of a general register, memory or a number, with or without extension.
  bool is_move() const;
  /// As `xor %eax, %eax` does.
  bool names_one_register_twice() const;
  /// General registers that it may read, and those that it surely overwrites, a bit each.
  std::uint32_t reads() const;
  std::uint32_t writes() const;
  /// True if its first operand is a vector register of which it surely reads nothing.
  bool overwrites_vector() const;
  /// True if the flags are another instruction's no more.
  bool sets_flags() const;
  /// True if it compares vectors, mask registers or x87 registers, and writes nothing but flags. Not vptestmd and the
  /// like: they write a mask register, and leave the flags alone.
  bool compares_vectors() const;
  /// True if it compares strings in vectors: it writes flags and a register.
  bool compares_strings() const;
  /// The condition code of a conditional jump (Intel SDM, volume 2, "tttn"): an odd code negates the even code before.
  std::optional<int> condition() const;
  /// Where a direct jump or call goes to.
  std::optional<std::uint64_t> target() const;
  /// The word that an indirect jump or call reads its target from, where that has an address of its own.
  std::optional<std::uint64_t> slot() const;
  /// General registers that it reads or writes without naming them.
  template <typename Use>
  void for_implicit(const Use& use) const {
    for (int i = 0; i < decoded_->detail.regs_read_count; ++i)
      use(number_of(static_cast<x86_reg>(decoded_->detail.regs_read[i])), false);
    for (int i = 0; i < decoded_->detail.regs_write_count; ++i)
      use(number_of(static_cast<x86_reg>(decoded_->detail.regs_write[i])), true);
  }

 private:
  std::shared_ptr<const Decoded> decoded_;
};

class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  /// Nothing where there are no bytes or no valid instruction.
  std::optional<Instruction> at(const Image& image, std::uint64_t address) const;

 private:
  csh handle_ = 0;
};

}  // namespace steelyard::partition
