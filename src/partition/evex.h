// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <capstone/capstone.h>

#include <cstddef>
#include <cstdint>

namespace steelyard::partition {

/// Decodes an instruction of AVX-512 for vectors and mask registers (Intel SDM, volume 2, "Intel AVX-512 Encoding").
/// Capstone 4 decodes only part of them, and no distribution has Zydis as an archive.
///
/// Operands are those that are written, then those that are read; constants are left out. The name tells only what the
/// proof has to know: whether it is a copy.
///
/// @param bytes   its machine code; `size` of them can be read
/// @param address of the instruction
/// @param decoded zeros, with a detail of zeros; then the instruction
/// @return false if it is another instruction, or one that uses general registers for anything but addresses
bool decode_evex(const std::uint8_t* bytes, std::size_t size, std::uint64_t address, cs_insn& decoded);

}  // namespace steelyard::partition
