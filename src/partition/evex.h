// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <capstone/capstone.h>

#include <cstddef>
#include <cstdint>

namespace steelyard::partition {

/// Decodes an instruction of AVX-512 for vectors and mask registers (Intel SDM, volume 2, "Intel AVX-512 Encoding").
/// Capstone 4 decodes only some of them.
///
/// The operands in `decoded` are those that are written, then those that are read, without constants. Its name tells
/// only what the proof needs: `vmovups` for a copy, `vcomi` for a comparison, otherwise `vector`.
///
/// @param bytes   the machine code, of which `size` bytes can be read
/// @param address of the instruction
/// @param decoded gets the instruction; all of it and of its detail must be 0
/// @return false if it is another instruction, or one that uses general registers for anything but addresses
bool decode_evex(const std::uint8_t* bytes, std::size_t size, std::uint64_t address, cs_insn& decoded);

}  // namespace steelyard::partition
