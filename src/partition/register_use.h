// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "partition/image.h"
#include "partition/instruction.h"

namespace steelyard::partition {

/// What a function does with general registers: sets of them, a bit each. In doubt, everything.
struct RegisterUse {
  std::uint32_t reads = ~0u;  ///< it may read what these hold at its entry
  std::uint32_t keeps = ~0u;  ///< these may hold the same when it returns
  bool returns = true;        ///< false: it never returns
};

/// If the code at `address` is a stub of the procedure linkage table: the word from which it reads its target, see
/// Image::imported(). Nothing if it is no stub.
std::optional<std::uint64_t> slot_of_stub(const Image& image, const Decoder& decoder, std::uint64_t address);

/// Finds out the register use of functions of an image. A long function counts as if it used everything. Calls inside
/// of the function are not followed: they count as if they used everything. In twelve applications, following three
/// levels of calls proved no further query and took up to three times as long.
class RegisterUses {
 public:
  RegisterUses(const Image& image, const Decoder& decoder) : image_(image), decoder_(decoder) {}
  /// @param entry where the function begins
  RegisterUse of(std::uint64_t entry);

 private:
  RegisterUse find(std::uint64_t entry) const;
  RegisterUse of_call(const Instruction& call) const;

  const Image& image_;
  const Decoder& decoder_;
  std::map<std::uint64_t, RegisterUse> known_;
};

}  // namespace steelyard::partition
